import { describe, expect, it } from 'vitest';
import { Cancelled } from '../contract/errors.ts';
import { fakeClock, memoryLog, memoryMeter } from './index.ts';

describe('fakeClock', () => {
  it('wakes sleepers in the order of their times, each after what the one before set off', async () => {
    const clock = fakeClock({ wall: 1_000 });
    const events: string[] = [];
    const sleeper = async (name: string, ...times: number[]) => {
      for (const ms of times) {
        await clock.sleep(ms);
        events.push(`${name}@${clock.now()}`);
      }
    };
    const all = Promise.all([sleeper('a', 30), sleeper('b', 10, 10, 20), sleeper('c', 0)]);
    await clock.advance(25);
    expect(events).toEqual(['c@0', 'b@10', 'b@20']);
    expect([clock.now(), clock.wall(), clock.sleepers]).toEqual([25, 1_025, 2]);
    await clock.advance(15);
    await all;
    expect(events.slice(3)).toEqual(['a@30', 'b@40']);
  });

  it('ends a sleep that is cancelled', async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    const sleep = expect(clock.sleep(10, abort.signal)).rejects.toBeInstanceOf(Cancelled);
    abort.abort();
    await sleep;
    await expect(clock.sleep(10, abort.signal)).rejects.toBeInstanceOf(Cancelled);
    expect(clock.sleepers).toBe(0);
  });
});

describe('memoryLog', () => {
  it('keeps the lines of all children, with their bindings', () => {
    const log = memoryLog();
    log.child({ plugin: 'a' }).child({ term: 1 }).warn({ term: 2 }, 'x');
    log.info({}, 'y');
    expect(log.records).toEqual([
      { level: 'warn', message: 'x', fields: { plugin: 'a', term: 2 } },
      { level: 'info', message: 'y', fields: {} },
    ]);
  });
});

describe('memoryMeter', () => {
  const total = { name: 'haptic_x_total', help: 'x', labels: ['pod', 'mode'] };
  const seconds = { name: 'haptic_x_seconds', help: 'x' };

  it('adds, sets, observes, times and removes', async () => {
    const clock = fakeClock();
    const meter = memoryMeter(clock);
    meter.count(total, { pod: 'a', mode: 'reload' });
    meter.count(total, { mode: 'reload', pod: 'a' }, 2);
    meter.count(total, { pod: 'b', mode: 'reload' });
    expect(meter.value('haptic_x_total', { pod: 'a', mode: 'reload' })).toBe(3);
    meter.remove(total, { pod: 'a' });
    expect(meter.series('haptic_x_total').map(({ labels }) => labels['pod'])).toEqual(['b']);
    const stop = meter.time(seconds);
    await clock.advance(1_500);
    stop();
    meter.observe(seconds, 1);
    expect(meter.series('haptic_x_seconds')).toMatchObject([{ value: 2.5, times: 2 }]);
    meter.gauge({ name: 'haptic_x', help: 'x' }, 7);
    expect(meter.value('haptic_x')).toBe(7);
  });

  it('refuses labels that a metric does not declare', () => {
    const meter = memoryMeter(fakeClock());
    expect(() => meter.count(total, { pod: 'a' })).toThrow(
      'haptic_x_total has the labels [mode,pod], got [pod]',
    );
  });
});
