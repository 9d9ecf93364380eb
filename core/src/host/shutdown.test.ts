import { describe, expect, it } from 'vitest';
import { fakeClock, memoryLog } from '../testing/index.ts';
import { shutdown } from './shutdown.ts';

function facts(close: () => Promise<void> = async () => {}) {
  const clock = fakeClock();
  const log = memoryLog();
  const host = { close, pending: () => [], undisposed: () => [] };
  return { clock, log, host, deadlineMs: 8_000 };
}

const errors = (log: ReturnType<typeof memoryLog>) =>
  log.records
    .filter(({ level }) => level === 'error')
    .map(({ message, fields }) => [message, fields['step']]);

describe('shutdown', () => {
  it('takes the steps in order, then disposes, and answers 0', async () => {
    const events: string[] = [];
    const given = facts(async () => void events.push('close'));
    const steps = ['ready off', 'abort'].map((name) => ({ name, run: async () => void events.push(name) }));
    expect(await shutdown({ ...given, steps })).toBe(0);
    expect(events).toEqual(['ready off', 'abort', 'close']);
    expect(given.log.records).toMatchObject([{ level: 'info', message: 'stopped', fields: { clean: true } }]);
  });

  it('goes on behind a step that fails or hangs, ends in time, and answers 1', async () => {
    let left = 0;
    const given = facts();
    const host = {
      ...given.host,
      close: async ({ deadlineMs = 0 } = {}) => {
        left = deadlineMs;
      },
    };
    const steps = [
      { name: 'throws', run: () => Promise.reject(new Error('no')) },
      { name: 'hangs', run: () => new Promise<void>(() => {}) },
    ];
    const code = shutdown({ ...given, host, steps });
    await given.clock.advance(8_000);
    expect(await code).toBe(1);
    expect(left).toBe(4_000);
    expect(errors(given.log)).toEqual([
      ['a step of the shutdown failed', 'throws'],
      ['a step of the shutdown failed', 'hangs'],
    ]);
  });

  it('lists what still hangs', async () => {
    const given = facts(() => Promise.reject(new AggregateError([])));
    const pending = [{ plugin: 'a', hook: 'deploy', runningMs: 9 }];
    const host = { ...given.host, pending: () => pending, undisposed: () => ['a'] };
    expect(await shutdown({ ...given, host, steps: [] })).toBe(1);
    expect(given.log.records).toMatchObject([
      { message: 'plugins did not stop as they should' },
      { message: 'the shutdown left this hanging', fields: { pending, undisposed: ['a'] } },
      { message: 'stopped', fields: { clean: false } },
    ]);
  });
});
