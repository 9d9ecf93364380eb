import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { MAIN_CONFIG, Refused, type Deployment } from '../contract/index.ts';
import { controllerRig, ingress, rigSpec, type Rig } from '../testing/controller-rig.ts';

function backendsOf({ rendered }: Deployment): readonly string[] {
  return Object.keys(rendered.plan.backends);
}

function configOf({ rendered }: Deployment): string {
  return new TextDecoder().decode(rendered.files.read(MAIN_CONFIG));
}

function deployed(rig: Rig): readonly (readonly string[])[] {
  return rig.fleet.deployments.map(backendsOf);
}

const failingTest = {
  validationTests: {
    speaks: { assertions: [{ type: 'contains', target: 'haproxy.cfg', pattern: 'no such words' }] },
  },
};

const refusing: Rig['judge'] = async (_candidate, findings) =>
  findings.add({ severity: 'error', message: 'no' });
const throwing: Rig['judge'] = async () => {
  throw new Error('the judge is broken');
};

describe('at start', () => {
  it('loads, fills the store, passes the gate and deploys what passed', async () => {
    await using rig = await controllerRig(({ source }) => {
      source.objects['ingresses'] = [ingress('one')];
    });
    expect(rig.told).toEqual([
      'rendered load-gate',
      'judged load-gate passed',
      'accepted x',
      'applied a=reload',
    ]);
    expect(deployed(rig)).toEqual([['one']]);
    expect(rig.fleet.deployments[0]).toMatchObject({ validated: true });
    expect(rig.controller.status()).toMatchObject({ phase: 'serving' });
  });

  it('asks the source again after it gave a watch up', async () => {
    await using rig = await controllerRig(({ source }) => {
      source.filled = () => Promise.reject(new Refused('the API server serves no ingresses'));
    });
    expect(rig.told).toEqual(['rejected the API server serves no ingresses']);
    rig.source.filled = () => Promise.resolve();
    rig.source.changed();
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.controller.status()).toMatchObject({ phase: 'serving' });
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it.each([
    ['a template that does not compile', rigSpec('bad'), 'rejected bad template'],
    [
      'a test that fails',
      rigSpec('x', failingTest),
      expect.stringMatching(/validation test "speaks".*no such words/),
    ],
    ['an unknown key', rigSpec('x', { haproxyConfg: 1 }), expect.stringMatching(/^rejected .*haproxyConfg/)],
  ])('deploys nothing for %s, and tries again when the configuration changes', async (_what, spec, told) => {
    await using rig = await controllerRig(({ source }) => {
      source.spec = spec;
    });
    expect(rig.told.at(-1)).toEqual(told);
    expect(rig.controller.status()).toMatchObject({ phase: 'waiting', problem: expect.any(Error) });
    const { length } = rig.told;
    await rig.clock.advance(600_000);
    expect(rig.told).toHaveLength(length);
    rig.source.spec = rigSpec('good');
    rig.source.changed();
    await rig.clock.advance(500);
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['accepted good', 'applied a=reload']);
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('deploys nothing that a judge refuses, and tries again when an object changes', async () => {
    await using rig = await controllerRig((rig) => {
      rig.judge = refusing;
    });
    expect(rig.told).toEqual(['rendered load-gate', 'judged load-gate refused', 'rejected judge: no']);
    rig.judge = undefined;
    rig.source.put('ingresses', ingress('one'));
    await rig.clock.advance(50);
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['accepted x', 'applied a=reload']);
    expect(deployed(rig)).toEqual([['one']]);
  });

  it('tries again by itself when there was no verdict', async () => {
    await using rig = await controllerRig((rig) => {
      rig.judge = throwing;
    });
    expect(rig.told).toEqual(['rendered load-gate']);
    rig.judge = undefined;
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['accepted x', 'applied a=reload']);
  });

  it('names a required watch that is not served', async () => {
    await using rig = await controllerRig(({ source }) => {
      source.objects['ingresses'] = 'not served';
    });
    expect(rig.told[0]).toMatch(/^rejected watchedResources.ingresses: .* is not served/);
  });

  it('tries a source again that breaks its promise or fails', async () => {
    await using rig = await controllerRig(({ source }) => {
      source.load = async () => {
        throw new Error('disk on fire');
      };
    });
    expect(rig.told).toEqual(['rejected source: load failed: disk on fire']);
    delete rig.source.load;
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.told).toContain('accepted x');
  });
});

describe('a profile that no backend has any more', () => {
  async function withoutBackends(judge: Rig['judge']): Promise<Deployment['rendered']['plan']> {
    await using rig = await controllerRig(({ source }) => {
      source.objects['ingresses'] = [ingress('one')];
    });
    rig.judge = judge;
    const deletes = [{ namespace: 'ns', name: 'one' }];
    rig.source.watching.at(-1)!.sink.apply('ingresses', { upserts: [], deletes });
    await rig.settle();
    await rig.clock.advance(50);
    await rig.settle();
    const { plan } = rig.fleet.deployments.at(-1)!.rendered;
    expect(Object.keys(plan.backends)).toEqual([]);
    return plan;
  }

  it('stays in the file', async () => {
    expect(Object.keys((await withoutBackends(undefined)).profiles)).toHaveLength(1);
  });

  it('is not what a render is refused for', async () => {
    const refusingProfiles: Rig['judge'] = async ({ rendered }, findings) => {
      if (Object.keys(rendered.plan.profiles).length > 0) findings.add({ severity: 'error', message: 'no' });
    };
    expect(Object.keys((await withoutBackends(refusingProfiles)).profiles)).toEqual([]);
  });
});

describe('a change of objects', () => {
  it('is rendered, judged and deployed at once, and named in the log', async () => {
    await using rig = await controllerRig();
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    expect(deployed(rig)).toEqual([[], ['one']]);
    expect(rig.fleet.deployments[1]!.plans[0]!.reasons).toContain('backend_added:one');
    const line = rig.log.records.find(({ message }) => message === 'reconciled');
    expect(line?.fields).toMatchObject({ changes: ['added ingresses ns/one'], verdict: 'pending' });
    expect(rig.told.slice(-3)).toEqual(['rendered reconcile', 'applied a=reload', 'judged reconcile passed']);
  });

  it('waits for others when one was just worked on', async () => {
    await using rig = await controllerRig();
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    rig.source.put('ingresses', ingress('two'));
    await rig.settle();
    await rig.clock.advance(49);
    expect(rig.fleet.deployments).toHaveLength(2);
    rig.source.put('ingresses', ingress('three'));
    await rig.clock.advance(1);
    await rig.settle();
    expect(deployed(rig).slice(2)).toEqual([['one', 'three', 'two']]);
  });

  it('does not wait where its watch says so', async () => {
    await using rig = await controllerRig();
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    rig.source.put('ingresses', ingress('two'));
    rig.source.put('slices', { ...ingress('slice'), kind: 'EndpointSlice' });
    await rig.settle();
    expect(deployed(rig)).toHaveLength(3);
  });

  it('that happens during a reconcile is seen by the next one', async () => {
    await using rig = await controllerRig();
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.custom = () => promise;
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    rig.source.put('ingresses', ingress('two'));
    await rig.clock.advance(200);
    expect(rig.fleet.deployments).toHaveLength(1);
    resolve();
    await rig.settle();
    expect(deployed(rig)).toEqual([[], ['one'], ['one', 'two']]);
  });

  it('is named again, and counted from when it was seen, where the first try came to nothing', async () => {
    await using rig = await controllerRig();
    let tries = 0;
    rig.custom = async () => {
      if (++tries === 1) throw new Error('is away');
    };
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    rig.source.put('ingresses', ingress('two'));
    await rig.clock.advance(10_000);
    await rig.settle();
    const lines = rig.log.records.filter(({ message }) => message === 'reconciled');
    expect(lines.at(-1)?.fields['changes']).toEqual(['added ingresses ns/one', 'added ingresses ns/two']);
    expect(deployed(rig).at(-1)).toEqual(['one', 'two']);
  });

  it('says why a pod has to reload', async () => {
    await using rig = await controllerRig();
    const line = rig.log.records.findLast(({ message }) => message === 'a pod took a plan');
    expect(line?.fields).toMatchObject({ result: 'reload', reasons: ['baseline_unknown'] });
  });

  it('that moves only what goes with a deployment reaches whoever publishes it', async () => {
    await using rig = await controllerRig();
    const before = rig.fleet.deployments[0]!.rendered.plan;
    rig.source.put('slices', { ...ingress('slice', { status: 'new' }), kind: 'EndpointSlice' });
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['judged reconcile passed', 'applied a=noop']);
    const { id, releaseId } = rig.released.at(-1)!.plan;
    expect([id === before.id, releaseId === before.releaseId]).toEqual([true, false]);
  });

  it('that changes nothing for pods is judged all the same, and not deployed', async () => {
    await using rig = await controllerRig();
    rig.source.put('slices', { ...ingress('slice'), kind: 'EndpointSlice' });
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['rendered reconcile', 'judged reconcile passed']);
    expect(rig.fleet.deployments).toHaveLength(1);
  });
});

describe('what is refused', () => {
  it('by a judge who answers first leaves what serves', async () => {
    await using rig = await controllerRig();
    rig.custom = refusing;
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    expect(rig.told.slice(-2)).toEqual(['judged reconcile refused', 'refused validate']);
    expect(rig.fleet.deployments).toHaveLength(1);
    expect(rig.controller.status().problem?.message).toBe('custom: no');
    rig.custom = undefined;
    rig.source.put('ingresses', ingress('two'));
    await rig.clock.advance(50);
    await rig.settle();
    expect(deployed(rig).at(-1)).toEqual(['one', 'two']);
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('by a template over one object leaves that out, and serves the others', async () => {
    await using rig = await controllerRig();
    rig.source.put('ingresses', ingress('bad', { fail: true }));
    await rig.settle();
    rig.source.put('ingresses', ingress('good'));
    await rig.clock.advance(50);
    await rig.settle();
    expect(deployed(rig)).toEqual([[], ['good']]);
    expect(rig.controller.status().quarantine).toMatchObject([
      { object: { name: 'bad' }, reason: 'bad fails', instead: 'unavailable' },
    ]);
    rig.source.put('ingresses', ingress('bad', { fail: false }));
    await rig.clock.advance(50);
    await rig.settle();
    expect(deployed(rig).at(-1)).toEqual(['bad', 'good']);
    expect(rig.controller.status().quarantine).toEqual([]);
  });

  it('is not what had no verdict: that is tried again', async () => {
    await using rig = await controllerRig();
    rig.custom = throwing;
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    await rig.clock.advance(999);
    expect(rig.told.filter((line) => line.startsWith('refused'))).toEqual([]);
    expect(rig.fleet.deployments).toHaveLength(1);
    rig.custom = undefined;
    await rig.clock.advance(1);
    await rig.settle();
    expect(deployed(rig)).toEqual([[], ['one']]);
  });
});

describe('a change of the configuration', () => {
  const change = async (rig: Rig, spec: unknown): Promise<void> => {
    rig.source.spec = spec;
    rig.source.changed();
    await rig.clock.advance(500);
    await rig.settle();
  };

  it('goes through the gate and then serves, with the store that is there', async () => {
    await using rig = await controllerRig();
    await change(rig, rigSpec('second'));
    expect(rig.told.slice(-2)).toEqual(['accepted second', 'applied a=reload']);
    expect(configOf(rig.fleet.deployments.at(-1)!)).toContain('# second 3.4.7 ingresses,slices');
    expect(rig.source.watching).toHaveLength(1);
  });

  it('waits until no more comes, and not for ever', async () => {
    await using rig = await controllerRig();
    rig.source.spec = rigSpec('second');
    for (let times = 0; times < 12; times++) {
      rig.source.changed();
      await rig.clock.advance(400);
    }
    expect(rig.told).not.toContain('accepted second');
    rig.source.changed();
    await rig.clock.advance(200);
    await rig.settle();
    expect(rig.told).toContain('accepted second');
  });

  it('with other watches fills another store first, and stops the old one then', async () => {
    await using rig = await controllerRig();
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.source.filled = () => promise;
    const watchedResources = { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } };
    await change(rig, rigSpec('second', { watchedResources }));
    expect(rig.told).not.toContain('accepted second');
    rig.source.watching[0]!.sink.apply('ingresses', { upserts: [ingress('meanwhile')], deletes: [] });
    await rig.settle();
    expect(deployed(rig).at(-1)).toEqual(['meanwhile']);
    resolve();
    await rig.settle();
    expect(rig.told).toContain('accepted second');
    expect(rig.source.watching.map(({ signal }) => signal.aborted)).toEqual([true, false]);
  });

  it('that is refused keeps the last good one at work', async () => {
    await using rig = await controllerRig();
    await change(rig, rigSpec('bad'));
    expect(rig.told.at(-1)).toBe('rejected bad template');
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    expect(deployed(rig).at(-1)).toEqual(['one']);
    expect(rig.controller.status()).toMatchObject({ phase: 'serving', problem: { message: 'bad template' } });
    await change(rig, rigSpec());
    expect(rig.told.at(-1)).toBe('accepted x');
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('that is refused over an object is tried again when objects change', async () => {
    await using rig = await controllerRig();
    rig.judge = async ({ rendered }, findings) => {
      const config = new TextDecoder().decode(rendered.files.read(MAIN_CONFIG));
      if (config.includes('second') && !config.includes('backend one'))
        findings.add({ severity: 'error', message: 'no' });
    };
    await change(rig, rigSpec('second'));
    expect(rig.told.at(-1)).toBe('rejected judge: no');
    rig.source.put('ingresses', ingress('one'));
    await rig.clock.advance(5_000);
    await rig.settle();
    expect(rig.told).toContain('accepted second');
  });

  it('overtakes one that is still being judged', async () => {
    await using rig = await controllerRig();
    rig.judge = refusing;
    await change(rig, rigSpec('second'));
    // Objects change, and so does the configuration: both are looked at in the same moment.
    rig.source.put('gateways', ingress('gateway'));
    await rig.clock.advance(4_500);
    rig.source.spec = rigSpec('third');
    rig.source.changed();
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.judge = () => promise;
    await rig.clock.advance(500);
    await rig.settle();
    resolve();
    await rig.settle();
    expect(rig.told.filter((line) => line.startsWith('accepted'))).toEqual(['accepted x', 'accepted third']);
  });

  it('overtakes one that is still being loaded', async () => {
    await using rig = await controllerRig();
    const aborted: boolean[] = [];
    rig.source.load = async (signal) => {
      delete rig.source.load;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      aborted.push(signal.aborted);
    };
    await change(rig, rigSpec('second'));
    await change(rig, rigSpec('third'));
    expect(aborted).toEqual([true]);
    expect(rig.told).toContain('accepted third');
    expect(rig.told).not.toContain('accepted second');
  });

  it('is also a kind that comes to be served', async () => {
    await using rig = await controllerRig();
    expect(configOf(rig.fleet.deployments[0]!)).toContain('# x 3.4.7 ingresses,slices\n');
    rig.source.watching[0]!.sink.replace('gateways', []);
    await rig.clock.advance(5_000);
    await rig.settle();
    expect(configOf(rig.fleet.deployments.at(-1)!)).toContain('# x 3.4.7 gateways,ingresses,slices\n');
  });
});

describe('pods', () => {
  it('that come are brought to what serves without another render', async () => {
    await using rig = await controllerRig();
    const rendered = rig.told.filter((line) => line.startsWith('rendered')).length;
    rig.fleet.pods = [...rig.fleet.pods, { name: 'b', ops: [] }];
    rig.fleet.changed();
    await rig.settle();
    expect(rig.told.at(-1)).toBe('applied a=noop,b=reload');
    expect(rig.told.filter((line) => line.startsWith('rendered'))).toHaveLength(rendered);
  });

  it('of another version are another view', async () => {
    await using rig = await controllerRig();
    rig.fleet.pods = rig.fleet.pods.map((pod) => ({ ...pod, haproxyVersion: '3.2.1' }));
    rig.fleet.changed();
    await rig.settle();
    expect(configOf(rig.fleet.deployments.at(-1)!)).toContain('# x 3.2.1');
  });

  it('with other paths are another view, and get no plan with the old ones', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = [];
    });
    rig.fleet.paths = { base: '/srv', workerSocket: '/srv/worker.sock' };
    rig.fleet.pods = [{ name: 'a', ops: [] }];
    rig.fleet.changed();
    await rig.settle();
    expect(rig.fleet.deployments.map(configOf)).toEqual([expect.stringContaining('/srv/worker.sock')]);
  });

  it.each(['the first configuration', 'a render'])(
    'with other paths that answer while %s is judged get no plan with the old ones',
    async (judged) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      await using rig = await controllerRig((starting) => {
        starting.fleet.pods = [];
        if (judged === 'the first configuration') starting.judge = () => promise;
      });
      if (judged === 'a render') rig.custom = () => promise;
      rig.source.put('ingresses', ingress('one'));
      await rig.settle();
      rig.fleet.paths = { base: '/srv', workerSocket: '/srv/worker.sock' };
      rig.fleet.pods = [{ name: 'a', ops: [] }];
      rig.fleet.changed();
      await rig.settle();
      resolve();
      await rig.clock.advance(1_000);
      await rig.settle();
      expect(new Set(rig.fleet.deployments.map(configOf))).toEqual(
        new Set([expect.stringContaining('/srv/worker.sock')]),
      );
      expect(deployed(rig).at(-1)).toEqual(['one']);
      expect(rig.released.at(-1)!.plan.id).toBe(rig.controller.status().plan!.id);
    },
  );

  it('of other and yet other paths that answer while renders are judged get none with the old ones', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = [];
    });
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let judged = 0;
    rig.custom = async () => gates[judged++]?.promise;
    for (const [index, base] of ['/one', '/two', '/three'].entries()) {
      rig.fleet.paths = { base, workerSocket: `${base}/worker.sock` };
      rig.fleet.pods = [{ name: 'a', ops: [] }];
      rig.fleet.changed();
      await rig.settle();
      gates[index - 1]?.resolve();
      await rig.settle();
    }
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.fleet.deployments.map(configOf)).toEqual([expect.stringContaining('/three/worker.sock')]);
  });

  it('that could not be reached are tried again, later each time', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.deploy = async ({ plans }, outcomes) => {
        await turn();
        for (const { pod } of plans) outcomes.add({ pod, result: 'unreachable', reasons: [], durationMs: 1 });
      };
    });
    const attempts = (): number => rig.fleet.deployments.length;
    expect(attempts()).toBe(1);
    await rig.clock.advance(999);
    expect(attempts()).toBe(1);
    await rig.clock.advance(1);
    await rig.settle();
    expect(attempts()).toBe(2);
    await rig.clock.advance(1_999);
    expect(attempts()).toBe(2);
    delete rig.fleet.deploy;
    await rig.clock.advance(1);
    await rig.settle();
    expect(rig.told.at(-1)).toBe('applied a=reload');
    await rig.clock.advance(600_000);
    expect(attempts()).toBe(3);
  });

  it('that rejected a plan are given another one without waiting', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.deploy = async ({ plans }, outcomes) => {
        for (const { pod } of plans)
          outcomes.add({ pod, result: 'rejected', stage: 'reload', reasons: [], durationMs: 1 });
      };
    });
    delete rig.fleet.deploy;
    rig.source.put('ingresses', ingress('one'));
    await rig.clock.advance(50);
    await rig.settle();
    expect(rig.told).toContain('applied a=reload');
  });

  it('that hang keep no other from what is new', async () => {
    const hung = Promise.withResolvers<void>();
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = ['a', 'b'].map((name) => ({ name, ops: [] }));
      fleet.deploy = async (deployment, outcomes) => {
        fleet.take(deployment, outcomes, ['a']);
        await hung.promise;
        fleet.take(deployment, outcomes, ['b']);
      };
    });
    delete rig.fleet.deploy;
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    const plans = rig.fleet.deployments.map(({ plans }) => plans.map(({ pod }) => pod));
    expect(plans).toEqual([['a', 'b'], ['a']]);
    hung.resolve();
    await rig.settle();
    expect(rig.fleet.deployments.at(-1)!.plans).toMatchObject([{ pod: 'b', mode: 'reload' }]);
  });

  it('without an outcome count as not reached', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.deploy = async () => {};
    });
    expect(rig.told.at(-1)).toBe('applied a=unreachable');
  });

  it('of a deployment that throws count as not reached, unless they answered', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = ['a', 'b'].map((name) => ({ name, ops: [] }));
      fleet.deploy = async (deployment, outcomes) => {
        fleet.take(deployment, outcomes, ['a']);
        throw new Error('lost');
      };
    });
    expect(rig.told.at(-1)).toBe('applied a=reload,b=unreachable');
  });

  it('that say they took a plan and do not report it are asked again after a while', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.deploy = async ({ plans }, outcomes) => {
        for (const { pod } of plans) outcomes.add({ pod, result: 'scheduled', reasons: [], durationMs: 1 });
        fleet.changed();
      };
    });
    await rig.clock.advance(29_999);
    expect(rig.fleet.deployments).toHaveLength(1);
    await rig.clock.advance(1);
    await rig.settle();
    expect(rig.fleet.deployments).toHaveLength(2);
  });
});

describe('a term', () => {
  it('of somebody else renders, and neither judges nor deploys', async () => {
    await using rig = await controllerRig(({ term }) => {
      term.current = { ...term.current, leader: false };
    });
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    expect(rig.told).toEqual([
      'rendered load-gate',
      'judged load-gate passed',
      'accepted x',
      'rendered reconcile',
    ]);
    expect(rig.fleet.deployments).toEqual([]);
    rig.term.current = { ...rig.term.current, leader: true, epoch: 2 };
    rig.controller.host.hooks.leadership.call({ leader: true, epoch: 2 });
    await rig.settle();
    expect(deployed(rig)).toEqual([['one']]);
  });

  it('that ends publishes nothing of what it had begun', async () => {
    await using rig = await controllerRig();
    const term = new AbortController();
    rig.term.current = { leader: true, epoch: 2, signal: term.signal };
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.judge = () => promise;
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    const { length } = rig.told;
    rig.term.current = { leader: false, epoch: 2, signal: term.signal };
    term.abort();
    resolve();
    await rig.settle();
    await rig.clock.advance(2_000);
    expect(rig.told.slice(length)).toEqual([]);
    expect(rig.fleet.deployments).toHaveLength(1);
  });

  it('that ends during a deployment tells nobody of its outcomes', async () => {
    await using rig = await controllerRig();
    const term = new AbortController();
    rig.term.current = { leader: true, epoch: 2, signal: term.signal };
    rig.fleet.deploy = (_deployment, _outcomes, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('gone'))));
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    const { length } = rig.told;
    term.abort();
    await rig.settle();
    expect(rig.told.slice(length)).toEqual([]);
  });
});

describe('a stop', () => {
  it('in the middle of a judgement publishes nothing and ends the watches', async () => {
    await using rig = await controllerRig();
    rig.judge = (_candidate, _findings, signal) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    const { length } = rig.told;
    await rig.stop();
    expect(rig.told.slice(length)).toEqual([]);
    expect(rig.source.watching.every(({ signal }) => signal.aborted)).toBe(true);
    expect(rig.controller.status().phase).toBe('stopped');
  });

  it('waits for a deployment that still runs', async () => {
    let ended = false;
    await using rig = await controllerRig(({ fleet }) => {
      fleet.deploy = (_deployment, _outcomes, signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => {
            ended = true;
            resolve();
          }),
        );
    });
    await rig.stop();
    expect(ended).toBe(true);
  });

  it('before anything was loaded is a clean one', async () => {
    await using rig = await controllerRig(({ source }) => {
      source.load = (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
    });
    await rig.stop();
    expect(rig.told).toEqual([]);
  });
});
