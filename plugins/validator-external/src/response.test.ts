import { describe, expect, it } from 'vitest';
import { decodeResponse } from './response.ts';

const place = { path: 'maps/a.map', line: 3, column: 0, message: 'no' };
const valid = { protocol_version: 1, result: 'valid', warnings: [], errors: [] };

function decode(answer: unknown): unknown {
  return decodeResponse(Buffer.from(JSON.stringify(answer)));
}

describe('an answer', () => {
  it.each([
    ['valid', [], []],
    ['warning', [place], []],
    ['error', [], [place]],
    ['error', [place], [place]],
  ])('of %s agrees with its diagnostics', (result, warnings, errors) => {
    expect(decode({ ...valid, result, warnings, errors })).toEqual({ result, warnings, errors });
  });

  it('may have fields that this version does not know', () => {
    const more = { ...valid, result: 'error', errors: [{ ...place, rule: 7 }], took_ms: 3 };
    expect(decode(more)).toEqual({ result: 'error', warnings: [], errors: [place] });
  });

  it.each([
    ['valid', [place], [], '"valid" with diagnostics that say "warning"'],
    ['valid', [], [place], '"valid" with diagnostics that say "error"'],
    ['warning', [place], [place], '"warning" with diagnostics that say "error"'],
    ['warning', [], [], '"warning" with diagnostics that say "valid"'],
    ['error', [place], [], '"error" with diagnostics that say "warning"'],
    ['error', [], [], '"error" with diagnostics that say "valid"'],
  ])('of %s that its diagnostics do not bear out is none', (result, warnings, errors, problem) => {
    expect(() => decode({ ...valid, result, warnings, errors })).toThrow(problem);
  });

  it.each([
    ['another version', { ...valid, protocol_version: 2 }, 'in version 2'],
    ['another version that looks otherwise', { protocol_version: 2, verdict: 'ok' }, 'in version 2'],
    ['no version', { ...valid, protocol_version: undefined }, 'protocol_version'],
    ['a version in words', { ...valid, protocol_version: '1' }, 'protocol_version'],
    ['an unknown result', { ...valid, result: 'ok' }, 'result'],
    ['no warnings', { ...valid, warnings: undefined }, 'warnings'],
    ['no errors', { ...valid, errors: null }, 'errors'],
    ['a line below 0', { ...valid, result: 'error', errors: [{ ...place, line: -1 }] }, 'errors.0.line'],
    ['half a column', { ...valid, result: 'error', errors: [{ ...place, column: 0.5 }] }, 'errors.0.column'],
    [
      'no words',
      { ...valid, result: 'error', errors: [{ path: '', line: 0, column: 0 }] },
      'errors.0.message',
    ],
    ['a list', [valid], 'none of the protocol'],
    ['nothing', null, 'none of the protocol'],
  ])('with %s is none', (_, answer, problem) => expect(() => decode(answer)).toThrow(problem));

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('OK')],
    ['two documents', Buffer.from(`${JSON.stringify(valid)}${JSON.stringify(valid)}`)],
    ['a byte order mark', Buffer.from(`\uFEFF${JSON.stringify(valid)}`)],
    [
      'bytes that are no UTF-8',
      Buffer.concat([Buffer.from('{"protocol_version":1,"x":"'), Buffer.of(0xff), Buffer.from('"}')]),
    ],
  ])('must be JSON in UTF-8, not %s', (_, body) =>
    expect(() => decodeResponse(body)).toThrow('JSON in UTF-8'),
  );
});
