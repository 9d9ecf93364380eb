import { describe, expect, it } from 'vitest';
import { Cancelled } from '../contract/errors.ts';
import { fakeClock } from '../testing/index.ts';
import { systemClock } from './clock.ts';
import { CANCEL_GRACE_MS, DeadlineExceeded, withDeadline } from './deadline.ts';

const never = () => new Promise<never>(() => {});

describe('withDeadline', () => {
  it('gives the result or the failure of work in time, and leaves no sleeper behind', async () => {
    const clock = fakeClock();
    expect(await withDeadline(async () => 1, { ms: 10, clock })).toBe(1);
    await expect(withDeadline(() => Promise.reject(new Error('no')), { ms: 10, clock })).rejects.toThrow(
      'no',
    );
    await clock.advance(0);
    expect(clock.sleepers).toBe(0);
  });

  it('gives up at the deadline, and tells the work', async () => {
    const clock = fakeClock();
    let told: AbortSignal | undefined;
    const work = withDeadline(
      (signal) => {
        told = signal;
        return never();
      },
      { ms: 2_000, clock },
    );
    const failed = expect(work).rejects.toThrow(new DeadlineExceeded('did not finish within 2 s'));
    await clock.advance(1_999);
    expect(told?.aborted).toBe(false);
    await clock.advance(1);
    await failed;
    expect(told?.reason).toBeInstanceOf(DeadlineExceeded);
  });

  it('does not begin what was called off', async () => {
    let begun = false;
    const work = withDeadline(async () => void (begun = true), {
      ms: 1,
      clock: fakeClock(),
      signal: AbortSignal.abort(),
    });
    await expect(work).rejects.toBeInstanceOf(Cancelled);
    expect(begun).toBe(false);
  });

  it('lets work wind up after it was called off, for a grace', async () => {
    const clock = fakeClock();
    const abort = new AbortController();
    const windUp = (signal: AbortSignal) =>
      new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('wound up')));
    const polite = withDeadline(windUp, { ms: Infinity, clock, signal: abort.signal });
    const deaf = withDeadline(never, { ms: Infinity, clock, signal: abort.signal });
    const cancelled = expect(deaf).rejects.toBeInstanceOf(Cancelled);
    abort.abort(new Cancelled('the term ended'));
    expect(await polite).toBe('wound up');
    await clock.advance(CANCEL_GRACE_MS);
    await cancelled;
    await expect(deaf).rejects.toThrow('the term ended');
  });

  it('takes no notice of work that fails after everybody left', async () => {
    const clock = fakeClock();
    const { promise, reject } = Promise.withResolvers<never>();
    const work = withDeadline(() => promise, { ms: 1, clock });
    const failed = expect(work).rejects.toBeInstanceOf(DeadlineExceeded);
    await clock.advance(1);
    await failed;
    reject(new Error('late')); // vitest fails the run on an unhandled rejection
    await clock.advance(1);
  });
});

describe('systemClock', () => {
  it('measures, sleeps and is cancelled', async () => {
    const start = systemClock.now();
    await systemClock.sleep(5);
    expect(systemClock.now() - start).toBeGreaterThan(3);
    expect(Math.abs(systemClock.wall() - Date.now())).toBeLessThan(1_000);
    await expect(systemClock.sleep(2 ** 40, AbortSignal.timeout(5))).rejects.toBeInstanceOf(Cancelled);
  });
});
