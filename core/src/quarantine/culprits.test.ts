import { describe, expect, it } from 'vitest';
import { refOf, type Rendered } from '../contract/index.ts';
import type { Around } from './evaluate-around.ts';
import { crowd, judgedRender, quarantineRig, served, watchedIngress } from '../testing/quarantine-rig.ts';

describe('a configuration', () => {
  it('that refuses what was accepted before is the culprit, and nothing is held', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.digest = 'second';
    rig.refuse = ({ view }) => {
      const provenance = {
        snippet: 'new',
        source: 'base',
        line: 1,
        objects: [refOf(view.watch('ingresses').list()[0]!)],
      };
      const finding = { judge: 'h', phase: 'haproxy', severity: 'error', message: 'no', provenance } as const;
      return { kind: 'refused', findings: [finding] };
    };
    const around = await rig.reconcile();
    expect(around).toMatchObject({
      kind: 'refused',
      culprit: { kind: 'configuration', reason: 'it refuses what was accepted before: Ingress shop/good-0' },
    });
    expect(rig.held()).toEqual([]);
  });

  it('that refuses the accepted revision of a held object is the culprit as well', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'x' }));
    await rig.reconcile();
    rig.refuse = ({ view }) => {
      const bad = view.watch('ingresses').get('shop', 'bad');
      const finding = { judge: 'x', phase: 'custom', severity: 'error', message: 'no' } as const;
      return bad && { kind: 'refused', findings: [{ ...finding, objects: [refOf(bad)] }] };
    };
    rig.digest = 'second';
    expect(await rig.reconcile()).toMatchObject({ kind: 'refused', culprit: { kind: 'configuration' } });
    expect(rig.held()).toEqual(['bad accepted']);
    // With the configuration that was good, its routes answer 503 instead.
    rig.digest = 'first';
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.held()).toEqual(['bad unavailable']);
  });

  it('that fails for objects of several namespaces with one line is the culprit at a first start', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('a', { fail: '7' }, 'one'), watchedIngress('b', { fail: '7' }, 'two'));
    expect(await rig.reconcile()).toMatchObject({
      kind: 'refused',
      culprit: {
        kind: 'configuration',
        reason: expect.stringContaining('several namespaces (one, two)') as string,
      },
    });
    rig.put(watchedIngress('b', { fail: '8' }, 'two'));
    expect(served(await rig.reconcile())).toHaveLength(100);
  });

  it.each([
    [5, 'evaluated'],
    [6, 'refused'],
  ])('that refuses %i of a hundred objects at a first start is %s', async (count, kind) => {
    const rig = quarantineRig();
    rig.put(...crowd().slice(count));
    rig.put(
      ...Array.from({ length: count }, (_, index) => watchedIngress(`bad-${index}`, { bad: `x${index}` })),
    );
    expect((await rig.reconcile()).kind).toBe(kind);
    expect(rig.held()).toHaveLength(kind === 'evaluated' ? count : 0);
  });

  it('that was accepted is not to blame for new objects, however many are bad', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.put(
      ...Array.from({ length: 20 }, (_, index) =>
        watchedIngress(`bad-${index}`, { bad: 'same' }, `ns-${index}`),
      ),
    );
    rig.put(watchedIngress('f-1', { fail: '1' }, 'one'), watchedIngress('f-2', { fail: '1' }, 'two'));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.held()).toHaveLength(22);
  });

  it('is not to blame when nobody is named: what changed last is held, and each tried by itself', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.refuse = ({ view }) => {
      const { version } = view.watch('ingresses').get('shop', 'good-3')!['spec'] as { version: number };
      const finding = { judge: 'x', phase: 'custom', severity: 'error', message: 'no' } as const;
      return version === 1 ? undefined : { kind: 'refused', findings: [finding] };
    };
    rig.put(watchedIngress('good-3', { version: 2 }), watchedIngress('good-4', { version: 2 }));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.held()).toEqual(['good-3 accepted', 'good-4 accepted']);
    while (await rig.onTheSide()) await rig.reconcile();
    expect(rig.held()).toEqual(['good-3 accepted']);
    expect(
      rig.quarantine.effective(rig.subject()).watch('ingresses').get('shop', 'good-4')?.['spec'],
    ).toEqual({
      version: 2,
    });
  });

  it('is not to blame when several objects are named: who was bad before is the first to be suspected', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.put(watchedIngress('bad', { bad: 'x' }));
    await rig.reconcile();
    rig.put(watchedIngress('bad', { shares: 1 }), watchedIngress('other', { shares: 1 }));
    rig.refuse = ({ view }) => {
      const bad = view.watch('ingresses').get('shop', 'bad');
      const other = view.watch('ingresses').get('shop', 'other');
      const finding = { judge: 'x', phase: 'custom', severity: 'error', message: 'no' } as const;
      return (
        bad && other && { kind: 'refused', findings: [{ ...finding, objects: [refOf(bad), refOf(other)] }] }
      );
    };
    expect(served(await rig.reconcile())).toContain('other');
    expect(rig.held()).toEqual(['bad unavailable']);
  });

  it('is not to blame for an object that a judge names by itself', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('odd', {}));
    rig.refuse = ({ view }) => {
      const odd = view.watch('ingresses').get('shop', 'odd');
      const finding = { judge: 'x', phase: 'custom', severity: 'error', message: 'not allowed' } as const;
      return odd && { kind: 'refused', findings: [{ ...finding, objects: [refOf(odd)] }] };
    };
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.quarantine.held).toMatchObject([{ object: { name: 'odd' }, reason: 'not allowed' }]);
  });

  it('is held as a whole where nobody is named and much changed', async () => {
    const rig = quarantineRig();
    rig.put(...crowd());
    await rig.reconcile();
    rig.refuse = () => ({
      kind: 'refused',
      findings: [{ judge: 'x', phase: 'custom', severity: 'error', message: 'no' }],
    });
    rig.put(...crowd().map((object) => ({ ...object, spec: { version: 2 } })));
    expect(await rig.reconcile()).toMatchObject({
      kind: 'refused',
      culprit: { kind: 'unknown', reason: 'no' },
    });
    expect(rig.held()).toEqual([]);
  });
});

describe('what a pod refuses', () => {
  it('is found by the words of its HAProxy, and the revision before it is served', async () => {
    const rig = quarantineRig();
    rig.put(...crowd(), watchedIngress('odd', { version: 1 }));
    await rig.reconcile();
    rig.put(watchedIngress('odd', { version: 2 }));
    const { subject } = (await rig.reconcile()) as Extract<Around<string[]>, { kind: 'evaluated' }>;
    const place = { snippet: 'backends', source: 'base', line: 3, objects: [refOf(watchedIngress('odd'))] };
    const loaded = {
      ...judgedRender,
      locate: (path: string, line: number) => (path === 'haproxy.cfg' && line === 12 ? place : undefined),
    } as Rendered;
    const message = "[ALERT]    (7) : config : parsing [haproxy.cfg:12] : unknown keyword 'odd'.";
    await rig.reconcile({ kind: 'pod', message, rendered: loaded, view: subject.view });
    expect(rig.quarantine.held).toMatchObject([{ instead: 'accepted', reason: "unknown keyword 'odd'." }]);
    // What has changed since is not held for it.
    rig.put(watchedIngress('odd', { version: 3 }));
    await rig.reconcile({ kind: 'pod', message, rendered: loaded, view: subject.view });
    expect(rig.held()).toEqual([]);
  });
});
