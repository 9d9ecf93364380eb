import { describe, expect, it } from 'vitest';
import { refOf } from '../contract/index.ts';
import { crowd, quarantineRig, served, watchedIngress } from '../testing/quarantine-rig.ts';

describe('one bad object among a hundred', () => {
  it('does not stop a cold start, nor the others from changing', async () => {
    const rig = quarantineRig();
    const { put, reconcile, held } = rig;
    put(...crowd(), watchedIngress('bad', { bad: 'bogus' }));
    expect(served(await reconcile())).toHaveLength(100);
    expect(held()).toEqual(['bad unavailable']);
    expect(rig.quarantine.held[0]?.reason).toBe("unknown keyword 'bogus'");
    for (let change = 0; change < 100; change++) {
      put(watchedIngress(`good-${change}`, { version: 2 }));
      expect(served(await reconcile())).toHaveLength(100);
    }
    const view = rig.quarantine.effective(rig.subject());
    expect(view.watch('ingresses').unavailable()).toHaveLength(1);
    expect(view.watch('ingresses').get('shop', 'good-7')?.['spec']).toEqual({ version: 2 });
  });

  it('costs one more round when it comes, and none later', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'bogus' }));
    await rig.reconcile();
    expect(rig.attempts).toBe(3);
    rig.put(watchedIngress('good-1', { version: 2 }));
    await rig.reconcile();
    expect(rig.attempts).toBe(4);
  });

  it('recovers when it is mended, and goes when it is deleted', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { bad: 'bogus' }), watchedIngress('worse', { bad: 'x' }));
    await rig.reconcile();
    expect(rig.held()).toEqual(['bad unavailable', 'worse unavailable']);
    rig.put(watchedIngress('bad', {}));
    rig.remove('worse');
    expect(served(await rig.reconcile())).toHaveLength(101);
    expect(rig.held()).toEqual([]);
    expect(
      rig.changes.map(({ added, released }) => [added.length, released.map(({ because }) => because)]),
    ).toEqual([
      [2, []],
      [0, ['mended', 'deleted']],
    ]);
    expect(rig.quarantine.effective(rig.subject())).toBe(rig.objects.view());
  });

  it('keeps its accepted revision, and is not tried again until it says something else', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'bogus' }));
    expect(served(await rig.reconcile())).toHaveLength(101);
    expect(rig.held()).toEqual(['bad accepted']);
    const view = rig.quarantine.effective(rig.subject());
    expect(view.watch('ingresses').get('shop', 'bad')?.['spec']).toEqual({ version: 1 });
    rig.put({ ...watchedIngress('bad', { bad: 'bogus' }), status: { seen: true } });
    const { attempts } = rig;
    await rig.reconcile();
    expect(rig.attempts - attempts).toBe(1);
    rig.put(watchedIngress('bad', { bad: 'other' }));
    await rig.reconcile();
    expect(rig.quarantine.held[0]).toMatchObject({ instead: 'accepted', reason: "unknown keyword 'other'" });
  });

  it('is no news where it is tried again and refused for the same', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'bogus' }));
    await rig.reconcile();
    const { attempts } = rig;
    await rig.clock.advance(11 * 60_000);
    await rig.onTheSide();
    expect(rig.attempts).toBeGreaterThan(attempts);
    expect(rig.changes.map(({ added, changed }) => [added.length, changed.length])).toEqual([[1, 0]]);
    rig.put({ ...watchedIngress('bad', { bad: 'bogus', version: 2 }) });
    await rig.reconcile();
    expect(rig.changes.at(-1)!.changed).toMatchObject([{ object: { name: 'bad' } }]);
  });

  it('of another one with the same name has no accepted revision', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'bogus' }, 'shop', 'another'));
    await rig.reconcile();
    expect(rig.held()).toEqual(['bad unavailable']);
  });

  it('is held since the first refusal, and loses its accepted revision with its identity', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'one' }));
    await rig.reconcile();
    const [first] = rig.quarantine.held;
    await rig.clock.advance(60_000);
    rig.put(watchedIngress('bad', { bad: 'two' }));
    await rig.reconcile();
    expect(rig.quarantine.held).toMatchObject([{ instead: 'accepted', since: first!.since }]);
    rig.put(watchedIngress('bad', { bad: 'three' }, 'shop', 'another'));
    await rig.reconcile();
    expect(rig.held()).toEqual(['bad unavailable']);
  });

  it('is no other matter where it is a hundred, of which a render names one at a time', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('fine', { version: 1 }, 'noisy'));
    await rig.reconcile();
    const many = Array.from({ length: 100 }, (_, index) =>
      watchedIngress(`broken-${index}`, { fail: 'x' }, 'noisy'),
    );
    rig.put(
      ...many,
      watchedIngress('new', { version: 1 }, 'noisy'),
      watchedIngress('good-1', { version: 2 }),
    );
    expect(served(await rig.reconcile())).toHaveLength(101);
    expect(rig.attempts).toBeLessThan(30);
    expect(rig.held()).toHaveLength(101);
    const view = rig.quarantine.effective(rig.subject());
    expect(view.watch('ingresses').get('shop', 'good-1')?.['spec']).toEqual({ version: 2 });
    while (await rig.onTheSide());
    expect(rig.held()).not.toContain('new unavailable');
    expect(rig.held()).toHaveLength(100);
  });

  it('brings nobody under suspicion who was let out before, of a view that did not change meanwhile', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    for (const turn of [1, 2, 3]) {
      rig.put(watchedIngress('flap', { bad: `x${turn}` }, 'noisy'));
      await rig.reconcile();
    }
    rig.put(watchedIngress('flap', { version: 1 }, 'noisy'));
    await rig.reconcile();
    await rig.clock.advance(1_000);
    expect(await rig.onTheSide()).toBe(true);
    expect(served(await rig.reconcile())).toContain('flap');
    rig.put(watchedIngress('new', { version: 1 }));
    rig.refuse = ({ view }) => {
      if (view.watch('ingresses').get('shop', 'new') === undefined) return undefined;
      const finding = { judge: 'h', phase: 'haproxy', severity: 'error', message: 'no' } as const;
      return { kind: 'refused', findings: [finding] };
    };
    expect(served(await rig.reconcile())).toContain('flap');
    expect(rig.held()).toEqual(['new unavailable']);
  });

  it('answers 503 when what fails is the edit of something that protects', async () => {
    const rig = quarantineRig();
    rig.put(
      ...crowd(),
      watchedIngress('tls', { tls: ['a'] }),
      watchedIngress('auth', {}),
      watchedIngress('plain', {}),
    );
    await rig.reconcile();
    const auth = watchedIngress('auth', { bad: 'x' });
    rig.put(
      watchedIngress('tls', { tls: ['b'], bad: 'x' }),
      { ...auth, metadata: { ...auth.metadata, annotations: { 'x.io/auth': 'strict' } } },
      watchedIngress('plain', { bad: 'x' }),
    );
    await rig.reconcile();
    expect(rig.held().sort()).toEqual(['auth unavailable', 'plain accepted', 'tls unavailable']);
  });

  it('is left out altogether where not even its routes can be served', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { bad: 'bogus' }));
    rig.refuse = ({ view }) => {
      const [object] = view.watch('ingresses').unavailable();
      if (object === undefined) return undefined;
      const provenance = { snippet: 'maps', source: 'base', line: 1, objects: [refOf(object)] };
      const finding = {
        judge: 'h',
        phase: 'haproxy',
        severity: 'error',
        message: 'no host',
        provenance,
      } as const;
      return { kind: 'refused', findings: [finding] };
    };
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.held()).toEqual(['bad nothing']);
  });
});
