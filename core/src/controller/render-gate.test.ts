import { describe, expect, it } from 'vitest';
import { OPERATION_NAMES, type Candidate, type Pod, type Refusal } from '../contract/index.ts';
import { controllerRig, ingress, type JudgeRun, type Rig } from '../testing/controller-rig.ts';

const runtimePod = (name: string): Pod => ({ name, ops: OPERATION_NAMES, haproxyVersion: '3.4.7' });
const backends = ({ rendered }: Pick<Candidate, 'rendered'>): string =>
  Object.keys(rendered.plan.backends).join();
const refusing: JudgeRun = async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' });

/** Refuses every render with this backend. */
const refusingBackend =
  (name: string): JudgeRun =>
  async ({ rendered }, findings) => {
    if (name in rendered.plan.backends) findings.add({ severity: 'error', message: `no ${name}` });
  };

/** A judge whose answers a test gives by hand. */
function slowJudge(): {
  readonly run: JudgeRun;
  readonly asked: string[];
  answer(run?: JudgeRun): Promise<void>;
} {
  const waiting: ((run: JudgeRun | undefined) => Promise<void>)[] = [];
  const asked: string[] = [];
  return {
    asked,
    run: (candidate, findings, signal, context) => {
      asked.push(backends(candidate));
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve());
        waiting.push(async (run) => {
          await run?.(candidate, findings, signal, context);
          resolve();
        });
      });
    },
    async answer(run) {
      await waiting.shift()!(run);
    },
  };
}

async function start(pods = ['a']): Promise<Rig> {
  return await controllerRig(({ fleet, source }) => {
    fleet.pods = pods.map(runtimePod);
    source.objects['ingresses'] = [ingress('one')];
  });
}

/** Puts an Ingress and lets the debounce pass. */
async function put(rig: Rig, name: string, spec: object = {}): Promise<void> {
  rig.source.put('ingresses', ingress(name, spec));
  await rig.settle();
  await rig.clock.advance(50);
  await rig.settle();
}

const planOf = (rig: Rig, index: number) => rig.fleet.deployments.at(index)!.rendered.plan;
const sent = (rig: Rig): string[] => rig.fleet.deployments.map(backends);

describe('while the gate is open', () => {
  it('a render goes out before HAProxy has judged it, and is released when it has', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'two');
    expect(sent(rig)).toEqual(['one', 'one,two']);
    expect(rig.fleet.deployments.at(-1)).toMatchObject({ validated: false });
    expect(rig.controller.status()).toMatchObject({
      gate: { state: 'open', pending: [planOf(rig, -1).id] },
      plan: { id: planOf(rig, 0).id },
      dispatched: planOf(rig, -1).id,
    });
    expect(rig.released.map((rendered) => backends({ rendered }))).toEqual(['one']);
    expect(rig.told.at(-1)).toBe('applied a=runtime');
    await judge.answer();
    await rig.settle();
    expect(rig.told.at(-1)).toBe('judged reconcile passed');
    expect(rig.released.map((rendered) => backends({ rendered }))).toEqual(['one', 'one,two']);
    expect(rig.fleet.confirmations).toMatchObject([{ validated: true, plans: [{ pod: 'a', mode: 'noop' }] }]);
    expect(rig.controller.status()).toMatchObject({
      gate: { pending: [] },
      plan: { id: planOf(rig, -1).id },
    });
  });

  it('what passes late is told at once to pods that had it while another one came', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'two');
    rig.fleet.pods = [...rig.fleet.pods, runtimePod('b')];
    rig.fleet.changed();
    await rig.settle();
    expect(rig.told.at(-1)).toBe('applied a=noop,b=reload');
    await judge.answer();
    await rig.settle();
    expect(rig.fleet.confirmations.at(-1)?.plans.map(({ pod }) => pod)).toContain('a');
  });

  it('everybody else judges first, and where one refuses HAProxy is asked at once', async () => {
    await using rig = await start();
    rig.external = refusing;
    const asked: string[] = [];
    rig.judge = async (candidate) => void asked.push(backends(candidate));
    await put(rig, 'two');
    expect(sent(rig)).toEqual(['one']);
    expect(asked[0]).toBe('one,two');
    expect(rig.controller.status().problem?.message).toBe('external: no');
  });

  it('the newest is judged first, and what it superseded only where a pod holds it', async () => {
    await using rig = await start(['a', 'b']);
    const judge = slowJudge();
    rig.judge = judge.run;
    const { promise: hung, resolve: unhang } = Promise.withResolvers<void>();
    await put(rig, 'two');
    rig.fleet.deploy = async (deployment, outcomes) => {
      rig.fleet.take(deployment, outcomes, ['a']);
      await hung;
    };
    await put(rig, 'three');
    delete rig.fleet.deploy;
    await put(rig, 'four');
    await put(rig, 'five');
    expect(judge.asked).toEqual(['one,two']);
    await judge.answer();
    await rig.settle();
    await rig.clock.advance(10_000);
    await rig.settle();
    expect(judge.asked).toEqual(['one,two', 'five,four,one,three,two']);
    await judge.answer();
    await rig.clock.advance(100_000);
    await rig.settle();
    // Pod b still reports "two", which is judged; nobody holds "three" and "four".
    expect(judge.asked).toHaveLength(2);
    unhang();
    expect(rig.controller.status().gate).toMatchObject({ state: 'open' });
  });

  it('a superseded plan that a pod still reports is judged', async () => {
    await using rig = await start(['a', 'b']);
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'two');
    await put(rig, 'three');
    // Pod b does not answer any more; it holds what it reported last.
    rig.fleet.pods = rig.fleet.pods.map((pod) =>
      pod.name === 'b' ? { ...runtimePod('b'), applied: planOf(rig, -1).id } : pod,
    );
    rig.fleet.deploy = async (deployment, outcomes) => rig.fleet.take(deployment, outcomes, ['a']);
    await put(rig, 'four');
    await judge.answer();
    await rig.clock.advance(1_000);
    await judge.answer();
    await rig.clock.advance(1_000);
    expect(judge.asked).toEqual(['one,two', 'four,one,three,two', 'one,three,two']);
  });

  it('an identical render during the check is the same question', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'two');
    rig.source.put('slices', { ...ingress('slice', { status: 'new' }), kind: 'EndpointSlice' });
    await rig.settle();
    await judge.answer();
    await rig.settle();
    expect(judge.asked).toEqual(['one,two']);
    expect(rig.released.at(-1)!.plan.statuses).toEqual([{ status: 'new' }]);
  });

  it('a content that HAProxy has judged is not asked about again, and others are', async () => {
    await using rig = await start();
    const judge = slowJudge();
    const others: string[] = [];
    rig.judge = judge.run;
    rig.external = async (candidate) => void others.push(backends(candidate));
    for (const spec of [{}, { a: 1 }, { a: 2 }]) {
      await put(rig, 'two', spec);
      if (judge.asked.length > others.length - 1) await judge.answer();
      await rig.settle();
    }
    expect(judge.asked).toEqual(['one,two']);
    expect(others).toEqual(['one,two', 'one,two', 'one,two']);
    expect(rig.told.filter((line) => line === 'judged reconcile passed')).toHaveLength(3);
  });

  it('it takes half of one core at most', async () => {
    await using rig = await start();
    const times: number[] = [];
    rig.judge = async () => {
      times.push(rig.clock.now());
      await rig.clock.sleep(100);
    };
    for (const name of ['two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'])
      await put(rig, name);
    await rig.clock.advance(1_000);
    const gaps = times.slice(1).map((time, index) => time - times[index]!);
    expect(gaps.length).toBeGreaterThanOrEqual(2);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200);
  });

  it('its checks say that nobody waits for them; those of others do not', async () => {
    await using rig = await start();
    const asked: unknown[] = [];
    rig.judge = async (_candidate, _findings, _signal, { caller, background }) =>
      void asked.push([caller, background]);
    await put(rig, 'two');
    await rig.controller.renderOnce(new AbortController().signal);
    expect(asked).toEqual([
      ['reconcile', true],
      ['validate', undefined],
    ]);
  });
});

describe('when HAProxy refuses what is out', () => {
  it('pods that did not load it go back, those whose own HAProxy did are left, and the next render waits', async () => {
    await using rig = await start(['a', 'b']);
    const accepted = rig.fleet.deployments[0]!.rendered.plan;
    rig.fleet.lastKnownGood = accepted;
    rig.fleet.deploy = async (deployment, outcomes) => {
      rig.fleet.take(deployment, outcomes);
      const { id } = deployment.rendered.plan;
      const isLoaded = ({ name, applied }: Pod): boolean => name === 'b' && applied === id;
      rig.fleet.pods = rig.fleet.pods.map((pod) => (isLoaded(pod) ? { ...pod, loaded: id } : pod));
    };
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'bad');
    const { id: bad } = planOf(rig, -1);
    await judge.answer(refusing);
    await rig.settle();
    expect(rig.fleet.reverts).toEqual([bad]);
    expect(rig.fleet.pods.map(({ applied }) => applied)).toEqual([accepted.id, bad]);
    expect(rig.controller.status()).toMatchObject({
      gate: { state: 'latched', reason: 'refused' },
      plan: { id: accepted.id },
      dispatched: accepted.id,
      problem: { message: 'judge: no' },
    });
    expect(rig.told.slice(-4)).toEqual([
      'judged reconcile refused',
      'refused validate',
      'applied a=noop',
      'rendered reconcile',
    ]);
    // The repeated render is without the culprit, and waits for its verdict.
    expect(judge.asked).toEqual(['bad,one', 'one']);
    await rig.clock.advance(1_000);
    expect(sent(rig)).toEqual(['one', 'bad,one', 'one']);
    expect(rig.released).toHaveLength(1);
    await judge.answer();
    await rig.settle();
    expect(rig.controller.status()).toMatchObject({
      gate: { state: 'open' },
      quarantine: [{ object: { name: 'bad' }, reason: 'no' }],
    });
    expect(rig.fleet.pods.map(({ applied }) => applied)).toEqual([accepted.id, accepted.id]);
  });

  it('pods get what was accepted last, whoever judges what comes next', async () => {
    await using rig = await start();
    rig.fleet.lastKnownGood = rig.fleet.deployments[0]!.rendered.plan;
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'bad');
    await judge.answer(refusing);
    await rig.settle();
    // HAProxy is being asked about the render without the culprit.
    expect(judge.asked).toEqual(['bad,one', 'one']);
    rig.fleet.pods = [...rig.fleet.pods, runtimePod('new')];
    rig.fleet.changed();
    await rig.settle();
    expect(rig.fleet.pods.map(({ applied }) => applied)).toEqual([planOf(rig, 0).id, planOf(rig, 0).id]);
    expect(judge.asked).toEqual(['bad,one', 'one']);
  });

  it('a pass opens it, and brings everybody what passed', async () => {
    await using rig = await start();
    rig.fleet.lastKnownGood = rig.fleet.deployments[0]!.rendered.plan;
    rig.judge = refusing;
    await put(rig, 'two');
    // Nobody is to blame: without the object it is refused as well.
    expect(rig.controller.status()).toMatchObject({ gate: { state: 'latched', reason: 'refused' } });
    await put(rig, 'three');
    expect(sent(rig)).not.toContain('one,three,two');
    rig.judge = undefined;
    await put(rig, 'four');
    expect(rig.fleet.deployments.at(-1)).toMatchObject({ validated: true });
    expect(sent(rig).at(-1)).toBe('four,one,three,two');
    expect(rig.fleet.pods).toMatchObject([{ applied: planOf(rig, -1).id }]);
    expect(rig.controller.status()).toMatchObject({ gate: { state: 'open' } });
    expect(rig.controller.status().problem).toBeUndefined();
    await put(rig, 'five');
    expect(rig.fleet.deployments.at(-1)).toMatchObject({ validated: false });
  });

  it('a render that is under way does not follow it unjudged', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'bad');
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.custom = () => promise;
    await put(rig, 'next');
    await judge.answer(refusing);
    resolve();
    await rig.settle();
    expect(sent(rig)).toEqual(['one', 'bad,one', 'one']);
    // Nobody says which of the two is to blame, so both are held.
    expect(judge.asked).toEqual(['bad,one', 'one']);
    await judge.answer();
    await rig.settle();
    expect(sent(rig).at(-1)).toBe('one');
    expect(rig.fleet.deployments.at(-1)).toMatchObject({ validated: true });
  });

  it('objects that are held in doubt are tried by themselves, and let in that are good', async () => {
    await using rig = await start();
    rig.judge = refusingBackend('bad');
    rig.source.watching.at(-1)!.sink.apply('ingresses', {
      upserts: [ingress('bad'), ingress('good')],
      deletes: [],
    });
    await rig.settle();
    await rig.clock.advance(50);
    await rig.settle();
    for (let second = 0; second < 10; second++) {
      await rig.clock.advance(1_000);
      await rig.settle();
    }
    expect(sent(rig).at(-1)).toBe('good,one');
    expect(rig.controller.status().quarantine).toMatchObject([{ object: { name: 'bad' } }]);
    expect(rig.controller.status().gate).toMatchObject({ state: 'open' });
  });

  it('a plan that a pod did not load leads to whom it is about', async () => {
    await using rig = await start();
    rig.fleet.deploy = async (deployment, outcomes) => {
      if (!('bad' in deployment.rendered.plan.backends)) return rig.fleet.take(deployment, outcomes);
      for (const { pod } of deployment.plans)
        outcomes.add({ pod, result: 'rejected', stage: 'reload', reasons: [], message: 'no', durationMs: 1 });
    };
    await put(rig, 'bad');
    await put(rig, 'good');
    expect(rig.controller.status().quarantine).toMatchObject([{ object: { name: 'bad' }, reason: 'no' }]);
    expect(rig.fleet.pods).toMatchObject([{ applied: planOf(rig, -1).id }]);
    expect(sent(rig).at(-1)).toBe('good,one');
  });

  it('whoever looks on is told that it is taken back, and what it was about', async () => {
    await using rig = await start();
    const refusals: Refusal[] = [];
    rig.controller.host.hooks.refused.tap('test', (refusal) => void refusals.push(refusal));
    rig.judge = refusingBackend('bad');
    await put(rig, 'bad');
    expect(refusals).toMatchObject([
      { stage: 'validate', takenBack: { changes: ['added ingresses ns/bad'] } },
    ]);
  });

  it('a content that it refused does not go out again', async () => {
    await using rig = await start();
    let unawaited = 0;
    rig.judge = async (candidate, findings, signal, context) => {
      if (context.background === true && backends(candidate) === 'bad,one') unawaited++;
      await refusingBackend('bad')(candidate, findings, signal, context);
    };
    await put(rig, 'bad');
    const sink = rig.source.watching.at(-1)!.sink;
    sink.apply('ingresses', { upserts: [], deletes: [{ namespace: 'ns', name: 'bad' }] });
    await rig.clock.advance(50);
    await rig.settle();
    expect(rig.controller.status()).toMatchObject({ gate: { state: 'open' } });
    const { length } = sent(rig);
    await put(rig, 'bad');
    expect(sent(rig)).toHaveLength(length);
    expect(unawaited).toBe(1);
    expect(rig.controller.status().quarantine).toMatchObject([{ object: { name: 'bad' } }]);
  });

  it('new pods get the last accepted plan', async () => {
    await using rig = await start();
    rig.judge = refusingBackend('bad');
    await put(rig, 'bad');
    rig.fleet.pods = [...rig.fleet.pods, runtimePod('new')];
    rig.fleet.changed();
    await rig.settle();
    expect(rig.fleet.deployments.at(-1)).toMatchObject({
      validated: true,
      plans: [
        { pod: 'a', mode: 'noop' },
        { pod: 'new', mode: 'reload' },
      ],
    });
    expect(sent(rig).at(-1)).toBe('one');
  });

  it('who is being taken back gets nothing else meanwhile', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    const { promise, resolve } = Promise.withResolvers<readonly []>();
    rig.fleet.revert = () => promise;
    await put(rig, 'bad');
    await judge.answer(refusing);
    await rig.settle();
    await put(rig, 'good');
    await judge.answer();
    await rig.settle();
    await judge.answer();
    await rig.settle();
    expect(sent(rig)).toEqual(['one', 'bad,one']);
    resolve([]);
    await rig.settle();
    expect(sent(rig).at(-1)).toBe('good,one');
  });
});

describe('without a verdict on what is out', () => {
  it('pods keep it, everything else waits, and HAProxy is asked again', async () => {
    await using rig = await start();
    let answers = false;
    rig.judge = async (_candidate, findings) => {
      if (!answers) findings.unanswered('haproxy', 'still running after 8000 ms');
    };
    await put(rig, 'two');
    expect(rig.fleet.reverts).toEqual([]);
    expect(rig.fleet.pods).toMatchObject([{ applied: planOf(rig, -1).id }]);
    expect(rig.controller.status()).toMatchObject({
      gate: { state: 'latched', reason: 'no-verdict', pending: [planOf(rig, -1).id] },
      problem: { message: expect.stringContaining('still running') },
    });
    await put(rig, 'three');
    expect(sent(rig)).toEqual(['one', 'one,two']);
    answers = true;
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.controller.status()).toMatchObject({ gate: { state: 'open', pending: [] } });
    expect(sent(rig).at(-1)).toBe('one,three,two');
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('the waits grow', async () => {
    await using rig = await start();
    let asked = 0;
    rig.judge = async (_candidate, findings) => {
      asked++;
      findings.unanswered('haproxy', 'hangs');
    };
    await put(rig, 'two');
    for (const [wait, times] of [
      [900, 1],
      [100, 2],
      [1_900, 2],
      [100, 3],
      [3_900, 3],
      [100, 4],
    ] as const) {
      await rig.clock.advance(wait);
      await rig.settle();
      expect(asked).toBe(times);
    }
  });
});

describe('a term', () => {
  const term = (rig: Rig, epoch: number): AbortController => {
    const ending = new AbortController();
    rig.term.current = { leader: true, epoch, signal: ending.signal };
    rig.controller.host.hooks.leadership.call({ leader: true, epoch });
    return ending;
  };

  it('has its first render judged before it goes out', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    rig.source.put('ingresses', ingress('two'));
    term(rig, 2);
    await rig.settle();
    expect(judge.asked).toEqual(['one,two']);
    expect(sent(rig)).toEqual(['one']);
    expect(rig.controller.status().gate).toMatchObject({ state: 'latched', reason: 'first-render' });
    await judge.answer();
    await rig.settle();
    expect(sent(rig).at(-1)).toBe('one,two');
    expect(rig.fleet.deployments.at(-1)).toMatchObject({ validated: true });
  });

  it.each(['pass', 'refuse'] as const)('that ended tells nobody of a verdict, be it to %s', async (what) => {
    await using rig = await start();
    const ending = term(rig, 2);
    await rig.settle();
    const judge = slowJudge();
    rig.judge = judge.run;
    await put(rig, 'two');
    const [told, released] = [rig.told.length, rig.released.length];
    rig.term.current = { leader: false, epoch: 2, signal: ending.signal };
    ending.abort();
    await judge.answer(what === 'refuse' ? refusing : undefined);
    await rig.clock.advance(5_000);
    await rig.settle();
    expect(rig.told.slice(told)).toEqual([]);
    expect(rig.released).toHaveLength(released);
    expect(rig.fleet.reverts).toEqual([]);
    expect(rig.fleet.confirmations).toEqual([]);
  });

  it('of somebody else asks HAProxy nothing', async () => {
    await using rig = await start();
    const judge = slowJudge();
    rig.judge = judge.run;
    rig.term.current = { ...rig.term.current, leader: false };
    await put(rig, 'two');
    expect(judge.asked).toEqual([]);
  });
});
