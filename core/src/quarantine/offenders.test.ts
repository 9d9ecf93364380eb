import { describe, expect, it } from 'vitest';
import { crowd, quarantineRig, served, watchedIngress } from '../testing/quarantine-rig.ts';
import { Offenders } from './offenders.ts';

describe('a namespace that keeps failing', () => {
  it('waits by itself: its changes are tried on the side, longer after each failure', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('flap', { version: 0 }, 'noisy'));
    await rig.reconcile();
    for (let turn = 1; turn <= 3; turn++) {
      rig.put(watchedIngress('flap', { bad: `x${turn}` }, 'noisy'));
      await rig.reconcile();
    }
    const { attempts } = rig;
    rig.put(watchedIngress('flap', { bad: 'x5' }, 'noisy'), watchedIngress('good-1', { version: 2 }));
    await rig.reconcile();
    expect(rig.attempts - attempts, 'others take no longer').toBe(1);
    expect(await rig.onTheSide(), 'it waits').toBe(false);
    expect(rig.quarantine.nextTrial(rig.subject())).toBe(1_000);
    await rig.clock.advance(1_000);
    expect(await rig.onTheSide()).toBe(true);
    expect(rig.quarantine.held).toMatchObject([{ reason: "unknown keyword 'x5'" }]);
    rig.put(watchedIngress('flap', { version: 2 }, 'noisy'));
    expect(rig.quarantine.nextTrial(rig.subject())).toBe(2_000);
    await rig.clock.advance(2_000);
    expect(await rig.onTheSide()).toBe(true);
    expect(rig.held()).toEqual([]);
    await rig.reconcile();
    expect(rig.quarantine.effective(rig.subject()).watch('ingresses').get('noisy', 'flap')?.['spec']).toEqual(
      {
        version: 2,
      },
    );
  });

  it('waits without what was deleted, though there is another object of that name', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('flap', { version: 0 }, 'noisy'));
    await rig.reconcile();
    for (let turn = 1; turn <= 3; turn++) {
      rig.put(watchedIngress('flap', { bad: `x${turn}` }, 'noisy'));
      await rig.reconcile();
    }
    const shown = () => rig.quarantine.effective(rig.subject()).watch('ingresses').get('noisy', 'flap');
    expect(shown()?.['spec']).toEqual({ version: 0 });
    rig.put(watchedIngress('flap', { version: 1 }, 'noisy', 'another'));
    await rig.reconcile();
    expect(shown()).toBeUndefined();
    await rig.clock.advance(1_000);
    await rig.onTheSide();
    expect(served(await rig.reconcile())).toContain('flap');
    expect(rig.held()).toEqual([]);
  });

  it('has its other changes of that kind tried on the side too, and is forgiven in time', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    for (let turn = 1; turn <= 3; turn++) {
      rig.put(watchedIngress(`new-${turn}`, { bad: 'x' }, 'noisy'));
      await rig.reconcile();
    }
    const { attempts } = rig;
    rig.put(watchedIngress('new-5', { bad: 'x' }, 'noisy'), watchedIngress('fine', {}, 'noisy'));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.attempts - attempts).toBe(1);
    await rig.clock.advance(1_000);
    await rig.onTheSide();
    expect(served(await rig.reconcile())).toContain('fine');
    expect(rig.held()).toContain('new-5 unavailable');
    await rig.clock.advance(20 * 60_000);
    rig.put(watchedIngress('late', {}, 'noisy'));
    expect(served(await rig.reconcile())).toContain('late');
  });

  it.each([
    [
      'one object that flaps',
      (turn: number) => watchedIngress('flap', turn % 2 === 0 ? {} : { bad: `x${turn}` }, 'noisy'),
    ],
    ['ever new objects', (turn: number) => watchedIngress(`new-${turn}`, { bad: `x${turn}` }, 'noisy')],
    [
      'edits that the template refuses',
      (turn: number) => watchedIngress('flap', { fail: String(turn) }, 'noisy'),
    ],
  ])('does not slow down others with %s', async (_what, next) => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    const rounds: number[] = [];
    for (let turn = 1; turn <= 300; turn++) {
      const { attempts } = rig;
      rig.put(next(turn), watchedIngress(`good-${turn % 100}`, { version: turn }));
      expect(served(await rig.reconcile())).toContain(`good-${turn % 100}`);
      rounds.push(rig.attempts - attempts);
      await rig.clock.advance(500);
      await rig.onTheSide();
    }
    const sorted = rounds.toSorted((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length * 0.99) - 1]).toBeLessThanOrEqual(2);
    expect(rounds.filter((count) => count > 1).length).toBeLessThanOrEqual(3);
    expect(
      rig.quarantine.effective(rig.subject()).watch('ingresses').get('shop', 'good-0')?.['spec'],
    ).toEqual({
      version: 300,
    });
  });
});

it('a clock that is set back makes nobody wait for longer', () => {
  let now = 10_000_000;
  const offenders = new Offenders({ wall: () => now });
  for (let turn = 1; turn <= 4; turn++) offenders.add('noisy', ['ingresses']);
  expect(offenders.notBefore('noisy')).toBe(now + 2_000);
  now -= 3_600_000;
  expect(offenders.notBefore('noisy')).toBe(now + 2_000);
  now += 2_000;
  expect(offenders.notBefore('noisy')).toBe(now);
});
