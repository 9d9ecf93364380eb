import { describe, expect, it } from 'vitest';
import {
  Refused,
  type HookContext,
  type KubeObject,
  type MergedConfig,
  type QuarantineChange,
  type Rendered,
  type StateStore,
  type Verdict,
} from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { Store } from '../store/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import type { RenderSubject } from '../pipeline/index.ts';
import { evaluateAround, type Around } from './evaluate-around.ts';
import type { Failure } from './complaints.ts';
import { refOf } from './identity.ts';
import { Quarantine } from './quarantine.ts';
import { SecurityFieldsOfKinds } from './security-fields.ts';

const context: HookContext = { signal: new AbortController().signal, caller: 'reconcile' };

function ingress(name: string, spec: object = {}, namespace = 'shop', uid = `uid-${name}`): KubeObject {
  const metadata = { namespace, name, uid };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec };
}

function memoryStore(): StateStore & { readonly documents: Map<string, string> } {
  const documents = new Map<string, string>();
  return {
    documents,
    read: async (name) => documents.get(name),
    write: async (name, document) => void documents.set(name, document),
  };
}

function config(digest: string): MergedConfig {
  return { digest, annotations: { 'x.io/auth': { security: true } } } as unknown as MergedConfig;
}

/** A quarantine over a store of Ingresses; one whose spec says `bad` is refused, as HAProxy would, and `fail` as a template would. */
function stage(store?: StateStore) {
  const clock = fakeClock();
  const log = memoryLog();
  const changes: QuarantineChange[] = [];
  const objects = new Store({
    ingresses: { indexBy: [], ignoreFields: [] },
    secrets: { indexBy: [], ignoreFields: [] },
  });
  const security = new SecurityFieldsOfKinds();
  security.add({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    fields: ({ spec }) => (spec as { tls?: unknown }).tls,
  });
  const quarantine = new Quarantine({
    hash: sha256,
    clock,
    log,
    security,
    store,
    onChange: (change) => changes.push(change),
  });
  const stage = {
    clock,
    log,
    changes,
    objects,
    quarantine,
    digest: 'first',
    attempts: 0,
    /** More that is refused. */
    refuse: undefined as ((subject: RenderSubject) => Verdict | undefined) | undefined,
    put: (...all: KubeObject[]) => objects.apply('ingresses', { upserts: all, deletes: [] }),
    remove: (name: string, namespace = 'shop') =>
      objects.apply('ingresses', { upserts: [], deletes: [{ namespace, name }] }),
    subject: (): RenderSubject => {
      return {
        config: config(stage.digest),
        view: objects.view(),
        fleet: { haproxyVersion: '3.4.7', paths: { base: '/b', workerSocket: '/w' } },
      };
    },
    async judge(subject: RenderSubject) {
      stage.attempts++;
      const served = [...subject.view.watch('ingresses').list()];
      const failing = served.find(({ spec }) => (spec as { fail?: string }).fail !== undefined);
      if (failing !== undefined) {
        const where = `main:${(failing.spec as { fail: string }).fail}:1`;
        throw new Refused([{ where, message: 'no such thing', objects: [refOf(failing)] }]);
      }
      const bad = served.filter(({ spec }) => (spec as { bad?: string }).bad !== undefined);
      const findings = bad.map((object) => ({
        judge: 'haproxy',
        phase: 'haproxy' as const,
        severity: 'error' as const,
        message: `unknown keyword '${(object.spec as { bad: string }).bad}'`,
        provenance: { snippet: 'backends', source: 'base', line: 3, objects: [refOf(object)] },
      }));
      const verdict: Verdict =
        findings.length > 0
          ? { kind: 'refused', findings }
          : (stage.refuse?.(subject) ?? { kind: 'passed', findings: [] });
      return { value: served.map(({ metadata }) => metadata.name), rendered, verdict };
    },
    /** As the reconcile loop does. */
    async reconcile(first?: Failure): Promise<Around<string[]>> {
      const subject = stage.subject();
      const draft = quarantine.draft(subject);
      const around = await evaluateAround(draft, subject, stage.judge, first);
      if (around.kind === 'evaluated') {
        quarantine.keep(draft);
        quarantine.accept(around.subject);
      }
      return around;
    },
    /** Beside it. */
    async onTheSide(): Promise<boolean> {
      const subject = stage.subject();
      const trial = quarantine.trials(subject);
      if (trial.size === 0) return false;
      const draft = quarantine.draft(subject, trial);
      const around = await evaluateAround(draft, subject, stage.judge);
      quarantine.tried(draft, trial, around.kind === 'evaluated' ? 'passed' : 'refused');
      return true;
    },
    held: () => quarantine.held.map(({ object, instead }) => `${object.name} ${instead}`),
  };
  objects.replace('ingresses', []);
  objects.replace('secrets', []);
  return stage;
}

const rendered = { plan: { id: 'x', sections: [] }, locate: () => undefined } as unknown as Rendered;

function served(around: Around<string[]>): string[] {
  if (around.kind !== 'evaluated') throw new Error(around.culprit.reason);
  return around.value;
}

/** A hundred good ones and a bad one. */
function crowd(): KubeObject[] {
  return Array.from({ length: 100 }, (_, index) => ingress(`good-${index}`, { version: 1 }));
}

describe('one bad object among a hundred', () => {
  it('does not stop a cold start, nor the others from changing', async () => {
    const { put, reconcile, held, ...rig } = stage();
    put(...crowd(), ingress('bad', { bad: 'bogus' }));
    expect(served(await reconcile())).toHaveLength(100);
    expect(held()).toEqual(['bad unavailable']);
    expect(rig.quarantine.held[0]?.reason).toBe("unknown keyword 'bogus'");
    for (let change = 0; change < 100; change++) {
      put(ingress(`good-${change}`, { version: 2 }));
      expect(served(await reconcile())).toHaveLength(100);
    }
    const view = rig.quarantine.effective(rig.subject());
    expect(view.watch('ingresses').unavailable()).toHaveLength(1);
    expect(view.watch('ingresses').get('shop', 'good-7')?.['spec']).toEqual({ version: 2 });
  });

  it('costs one more round when it comes, and none later', async () => {
    const rig = stage();
    rig.put(...crowd());
    await rig.reconcile();
    rig.put(ingress('bad', { bad: 'bogus' }));
    await rig.reconcile();
    expect(rig.attempts).toBe(3);
    rig.put(ingress('good-1', { version: 2 }));
    await rig.reconcile();
    expect(rig.attempts).toBe(4);
  });

  it('recovers when it is mended, and goes when it is deleted', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('bad', { bad: 'bogus' }), ingress('worse', { bad: 'x' }));
    await rig.reconcile();
    expect(rig.held()).toEqual(['bad unavailable', 'worse unavailable']);
    rig.put(ingress('bad', {}));
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
    const rig = stage();
    rig.put(...crowd(), ingress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(ingress('bad', { bad: 'bogus' }));
    expect(served(await rig.reconcile())).toHaveLength(101);
    expect(rig.held()).toEqual(['bad accepted']);
    const view = rig.quarantine.effective(rig.subject());
    expect(view.watch('ingresses').get('shop', 'bad')?.['spec']).toEqual({ version: 1 });
    rig.put({ ...ingress('bad', { bad: 'bogus' }), status: { seen: true } });
    const { attempts } = rig;
    await rig.reconcile();
    expect(rig.attempts - attempts).toBe(1);
    rig.put(ingress('bad', { bad: 'other' }));
    await rig.reconcile();
    expect(rig.quarantine.held[0]).toMatchObject({ instead: 'accepted', reason: "unknown keyword 'other'" });
  });

  it('of another one with the same name has no accepted revision', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('bad', { version: 1 }));
    await rig.reconcile();
    rig.put(ingress('bad', { bad: 'bogus' }, 'shop', 'another'));
    await rig.reconcile();
    expect(rig.held()).toEqual(['bad unavailable']);
  });

  it('answers 503 when what fails is the edit of something that protects', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('tls', { tls: ['a'] }), ingress('auth', {}), ingress('plain', {}));
    await rig.reconcile();
    const auth = ingress('auth', { bad: 'x' });
    rig.put(
      ingress('tls', { tls: ['b'], bad: 'x' }),
      { ...auth, metadata: { ...auth.metadata, annotations: { 'x.io/auth': 'strict' } } },
      ingress('plain', { bad: 'x' }),
    );
    await rig.reconcile();
    expect(rig.held().sort()).toEqual(['auth unavailable', 'plain accepted', 'tls unavailable']);
  });

  it('is left out altogether where not even its routes can be served', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('bad', { bad: 'bogus' }));
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

describe('a configuration', () => {
  it('that refuses what was accepted before is the culprit, and nothing is held', async () => {
    const rig = stage();
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

  it('that fails for objects of several namespaces with one line is the culprit at a first start', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('a', { fail: '7' }, 'one'), ingress('b', { fail: '7' }, 'two'));
    expect(await rig.reconcile()).toMatchObject({
      kind: 'refused',
      culprit: {
        kind: 'configuration',
        reason: expect.stringContaining('several namespaces (one, two)') as string,
      },
    });
    rig.put(ingress('b', { fail: '8' }, 'two'));
    expect(served(await rig.reconcile())).toHaveLength(100);
  });

  it.each([
    [5, 'evaluated'],
    [6, 'refused'],
  ])('that refuses %i of a hundred objects at a first start is %s', async (count, kind) => {
    const rig = stage();
    rig.put(...crowd().slice(count));
    rig.put(...Array.from({ length: count }, (_, index) => ingress(`bad-${index}`, { bad: `x${index}` })));
    expect((await rig.reconcile()).kind).toBe(kind);
    expect(rig.held()).toHaveLength(kind === 'evaluated' ? count : 0);
  });

  it('that was accepted is not to blame for new objects, however many are bad', async () => {
    const rig = stage();
    rig.put(...crowd());
    await rig.reconcile();
    rig.put(
      ...Array.from({ length: 20 }, (_, index) => ingress(`bad-${index}`, { bad: 'same' }, `ns-${index}`)),
    );
    rig.put(ingress('f-1', { fail: '1' }, 'one'), ingress('f-2', { fail: '1' }, 'two'));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.held()).toHaveLength(22);
  });

  it('is not to blame when nobody is named: what changed last is held, and each tried by itself', async () => {
    const rig = stage();
    rig.put(...crowd());
    await rig.reconcile();
    rig.refuse = ({ view }) =>
      view.watch('ingresses').get('shop', 'good-3')?.['spec'] === undefined ||
      (view.watch('ingresses').get('shop', 'good-3')?.['spec'] as { version: number }).version === 1
        ? undefined
        : { kind: 'refused', findings: [{ judge: 'x', phase: 'custom', severity: 'error', message: 'no' }] };
    rig.put(ingress('good-3', { version: 2 }), ingress('good-4', { version: 2 }));
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

  it('is held as a whole where nobody is named and much changed', async () => {
    const rig = stage();
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
    const rig = stage();
    rig.put(...crowd(), ingress('odd', { version: 1 }));
    await rig.reconcile();
    rig.put(ingress('odd', { version: 2 }));
    const { subject } = (await rig.reconcile()) as Extract<Around<string[]>, { kind: 'evaluated' }>;
    const place = { snippet: 'backends', source: 'base', line: 3, objects: [refOf(ingress('odd'))] };
    const loaded = {
      ...rendered,
      locate: (path: string, line: number) => (path === 'haproxy.cfg' && line === 12 ? place : undefined),
    } as Rendered;
    const message = "[ALERT]    (7) : config : parsing [haproxy.cfg:12] : unknown keyword 'odd'.";
    await rig.reconcile({ kind: 'pod', message, rendered: loaded, view: subject.view });
    expect(rig.quarantine.held).toMatchObject([{ instead: 'accepted', reason: "unknown keyword 'odd'." }]);
    // What has changed since is not held for it.
    rig.put(ingress('odd', { version: 3 }));
    await rig.reconcile({ kind: 'pod', message, rendered: loaded, view: subject.view });
    expect(rig.held()).toEqual([]);
  });
});

describe('a namespace that keeps failing', () => {
  it('waits by itself: its changes are tried on the side, longer after each failure', async () => {
    const rig = stage();
    rig.put(...crowd(), ingress('flap', { version: 0 }, 'noisy'));
    await rig.reconcile();
    for (let turn = 1; turn <= 4; turn++) {
      rig.put(ingress('flap', { bad: `x${turn}` }, 'noisy'));
      await rig.reconcile();
    }
    const { attempts } = rig;
    rig.put(ingress('flap', { bad: 'x5' }, 'noisy'), ingress('good-1', { version: 2 }));
    await rig.reconcile();
    expect(rig.attempts - attempts, 'others take no longer').toBe(1);
    expect(await rig.onTheSide(), 'it waits').toBe(false);
    expect(rig.quarantine.nextTrial(rig.subject())).toBe(1_000);
    await rig.clock.advance(1_000);
    expect(await rig.onTheSide()).toBe(true);
    expect(rig.quarantine.held).toMatchObject([{ reason: "unknown keyword 'x5'" }]);
    rig.put(ingress('flap', { version: 2 }, 'noisy'));
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

  it('has its other changes of that kind tried on the side too, and is forgiven in time', async () => {
    const rig = stage();
    rig.put(...crowd());
    await rig.reconcile();
    for (let turn = 1; turn <= 4; turn++) {
      rig.put(ingress(`new-${turn}`, { bad: 'x' }, 'noisy'));
      await rig.reconcile();
    }
    const { attempts } = rig;
    rig.put(ingress('new-5', { bad: 'x' }, 'noisy'), ingress('fine', {}, 'noisy'));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.attempts - attempts).toBe(1);
    await rig.clock.advance(1_000);
    await rig.onTheSide();
    expect(served(await rig.reconcile())).toContain('fine');
    expect(rig.held()).toContain('new-5 unavailable');
    await rig.clock.advance(20 * 60_000);
    rig.put(ingress('late', {}, 'noisy'));
    expect(served(await rig.reconcile())).toContain('late');
  });
});

describe('a restart', () => {
  it('forgets no bad object, and serves its accepted revision from the first render on', async () => {
    const store = memoryStore();
    const before = stage(store);
    before.put(...crowd(), ingress('bad', { version: 1 }));
    await before.reconcile();
    before.put(ingress('bad', { bad: 'bogus' }));
    await before.reconcile();
    await before.quarantine.close();

    const after = stage(store);
    await after.quarantine.restore(context.signal);
    after.put(...crowd(), ingress('bad', { bad: 'bogus' }));
    expect(served(await after.reconcile())).toHaveLength(101);
    expect(after.attempts).toBe(1);
    expect(after.held()).toEqual(['bad accepted']);
    expect(
      after.quarantine.effective(after.subject()).watch('ingresses').get('shop', 'bad')?.['spec'],
    ).toEqual({
      version: 1,
    });
  });

  it('with a configuration that refuses what was accepted before starts nothing', async () => {
    const store = memoryStore();
    const before = stage(store);
    before.put(...crowd(), ingress('odd', { bad: 'later' }));
    before.judge = async () => ({ value: [], rendered, verdict: { kind: 'passed', findings: [] } });
    await before.reconcile();
    await before.quarantine.close();

    const after = stage(store);
    await after.quarantine.restore(context.signal);
    after.digest = 'second';
    after.put(...crowd(), ingress('odd', { bad: 'later' }));
    expect(await after.reconcile()).toMatchObject({ kind: 'refused', culprit: { kind: 'configuration' } });
    // What nobody accepted before may be held.
    after.put(ingress('odd', { bad: 'new' }));
    expect(served(await after.reconcile())).toHaveLength(100);
  });

  it('after a broken document judges everything anew, and says so', async () => {
    const store = memoryStore();
    store.documents.set('quarantine', '{"version":1,"entries":[{}],"offences":[]}');
    store.documents.set('accepted', '\0garbage');
    const rig = stage(store);
    await rig.quarantine.restore(context.signal);
    rig.put(...crowd(), ingress('bad', { bad: 'bogus' }));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.log.records.filter(({ level }) => level === 'error')).toHaveLength(2);
    await rig.quarantine.close();
    expect(store.documents.get('quarantine-broken')).toContain('{}');
  });
});
