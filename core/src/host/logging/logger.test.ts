import { describe, expect, it } from 'vitest';
import { createLogger, type LoggerOptions } from './logger.ts';

function lines(options: LoggerOptions = {}) {
  const written: string[] = [];
  const logger = createLogger({
    ...options,
    destination: { write: (line: string) => void written.push(line) },
  });
  return {
    logger,
    written,
    parsed: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
  };
}

describe('createLogger', () => {
  it('writes one JSON line for each event, with the bindings of its child', () => {
    const { logger, written, parsed } = lines();
    logger.child({ plugin: 'a' }).child({ term: 3 }).warn({ durationMs: 5 }, 'took long');
    expect(written).toHaveLength(1);
    expect(written[0]).toMatch(/^\{.*\}\n$/);
    expect(parsed()[0]).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
      plugin: 'a',
      term: 3,
      durationMs: 5,
      msg: 'took long',
    });
  });

  it('redacts fields, bindings and the sentence', () => {
    const { logger, written } = lines();
    logger
      .child({ token: 'hunter2' })
      .error({ err: new Error('Bearer hunter2'), password: 'hunter2' }, 'token=hunter2');
    expect(written.join('')).not.toContain('hunter2');
    expect(written.join('').match(/\[redacted\]/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it('changes the level of all children at once', () => {
    const { logger, parsed } = lines({ level: 'warn' });
    const child = logger.child({ plugin: 'a' });
    child.info({}, 'first');
    logger.setLevel('debug');
    child.debug({}, 'second');
    logger.setLevel('error');
    child.warn({}, 'third');
    expect(parsed().map(({ msg }) => msg)).toEqual(['second']);
  });

  it('shows people the time, the sentence, the fields and the stack', () => {
    const { logger, written } = lines({ pretty: true });
    logger.error(
      { plugin: 'a', note: 'two words', err: new Error('broke', { cause: new Error('why') }) },
      'a tap failed',
    );
    const text = written.join('');
    expect(text).toMatch(/^.*\d\d:\d\d:\d\d\.\d{3}.*ERROR.*a tap failed.*plugin=.*a .*note=.*"two words"/);
    expect(text).toContain('  Error: broke\n');
    expect(text).toContain('  caused by\n  Error: why\n');
  });

  it('does not fail on fields that are no object of fields', () => {
    const { logger, parsed } = lines();
    logger.info(new Date(0), 'x');
    logger.info(['a'], 'y');
    expect(parsed().map(({ fields, msg }) => [fields, msg])).toEqual([
      ['1970-01-01T00:00:00.000Z', 'x'],
      [['a'], 'y'],
    ]);
  });
});
