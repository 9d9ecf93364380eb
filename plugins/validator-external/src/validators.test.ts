import { describe, expect, it } from 'vitest';
import { validatorsSchema } from './validators.ts';

const policy = { name: 'policy', socketPath: '/run/policy.sock', files: ['maps/*'] };

/** `path: message` of each problem. */
function problems(...validators: readonly object[]): string[] {
  const issues = validatorsSchema.safeParse(validators).error?.issues ?? [];
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

describe('declared validators', () => {
  it('are none by default', () => expect(validatorsSchema.parse(undefined)).toEqual([]));

  it('have defaults', () => {
    const defaults = { dataFiles: [], timeoutMs: 5_000, maxConnections: 4 };
    expect(validatorsSchema.parse([policy])).toEqual([{ ...policy, ...defaults }]);
  });

  it.each([
    { timeoutMs: 1 },
    { timeoutMs: 60_000 },
    { maxConnections: 1 },
    { maxConnections: 32 },
    { name: 'a' },
    { name: `a${'-'.repeat(61)}1` },
    { socketPath: `/${'x'.repeat(106)}` },
  ])('may have %o', (more) => expect(problems({ ...policy, ...more })).toEqual([]));

  it.each([
    [{ timeoutMs: 0 }, '0.timeoutMs:'],
    [{ timeoutMs: 60_001 }, '0.timeoutMs:'],
    [{ timeoutMs: 1.5 }, '0.timeoutMs:'],
    [{ timeoutMs: '5s' }, '0.timeoutMs:'],
    [{ maxConnections: 0 }, '0.maxConnections:'],
    [{ maxConnections: 33 }, '0.maxConnections:'],
    [{ name: '' }, '0.name: expected lower-case letters'],
    [{ name: 'Policy' }, '0.name: expected lower-case letters'],
    [{ name: 'policy-' }, '0.name: expected lower-case letters'],
    [{ name: 'a.b' }, '0.name: expected lower-case letters'],
    [{ name: 'a'.repeat(64) }, '0.name: a name may be at most 63'],
    [{ socketPath: 'run/policy.sock' }, '0.socketPath: expected the absolute path'],
    [{ socketPath: '/run/a\0b' }, '0.socketPath: expected the absolute path'],
    [{ socketPath: `/${'é'.repeat(54)}` }, '0.socketPath: the path of a socket may be at most 107'],
    [{ files: [] }, '0.files:'],
    [{ files: undefined }, '0.files:'],
    [{ files: ['maps/**'] }, '0.files.0: malformed glob "maps/**": "**" is not supported'],
    [{ dataFiles: ['['] }, '0.dataFiles.0: malformed glob "[": "[" is not closed'],
    [{ path: '/run' }, '0: '],
  ])('must not have %o', (more, problem) => {
    const found = problems({ ...policy, ...more });
    expect(found).toHaveLength(1);
    expect(found[0]!.startsWith(problem), found[0]).toBe(true);
  });

  it('have names of their own', () => {
    expect(problems(policy, { ...policy, name: 'style' }, policy)).toEqual([
      '2.name: two validators have the name "policy"',
    ]);
  });
});
