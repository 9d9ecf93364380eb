import { describe, expect, it } from 'vitest';
import {
  Cancelled,
  Refused,
  Retry,
  type HookContext,
  type KubeObject,
  type ProposalAnswer,
  type RenderInput,
} from '../contract/index.ts';
import { controllerRig, ingress, type JudgeRun, type Rig } from '../testing/controller-rig.ts';
import { Store } from '../store/index.ts';
import { judgeProposal } from './proposal.ts';

const { signal } = new AbortController();
const refusing: JudgeRun = async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' });
const refusingBackend =
  (name: string): JudgeRun =>
  async ({ rendered }, findings) => {
    if (name in rendered.plan.backends) findings.add({ severity: 'error', message: `no ${name}` });
  };

async function start(): Promise<Rig> {
  return await controllerRig(({ source }) => {
    source.objects['ingresses'] = [ingress('one')];
  });
}

const propose = async (rig: Rig, object: KubeObject, watch = 'ingresses'): Promise<ProposalAnswer> =>
  await rig.controller.judgeProposal({ watch, object }, signal);

const refusal = (answer: ProposalAnswer): string => (answer.allowed ? 'allowed' : answer.error.message);

describe('a proposal', () => {
  it('is judged by everybody, each time, and changes nothing', async () => {
    await using rig = await start();
    const asked: string[] = [];
    for (const kind of ['judge', 'external', 'custom'] as const)
      rig[kind] = async (candidate, _findings, _signal, { caller }) =>
        void asked.push(`${kind} ${caller} ${Object.keys(candidate.rendered.plan.backends).join()}`);
    const { length } = rig.fleet.deployments;
    for (let times = 0; times < 2; times++)
      expect(await propose(rig, ingress('two'))).toEqual({ allowed: true, findings: [] });
    const once = ['judge', 'external', 'custom'].map((kind) => `${kind} admission one,two`);
    expect(asked).toEqual([...once, ...once]);
    expect(rig.fleet.deployments).toHaveLength(length);
  });

  it('passes with the warnings of judges', async () => {
    await using rig = await start();
    rig.custom = async (_candidate, findings) => findings.add({ severity: 'warning', message: 'hm' });
    expect(await propose(rig, ingress('two'))).toMatchObject({
      allowed: true,
      findings: [{ message: 'hm' }],
    });
  });

  it('is denied with the words of the judge, or of the template', async () => {
    await using rig = await start();
    rig.judge = refusingBackend('two');
    expect(refusal(await propose(rig, ingress('two')))).toBe('judge: no two');
    expect(refusal(await propose(rig, ingress('three', { fail: true })))).toBe('three fails');
  });

  it('is denied without a verdict', async () => {
    await using rig = await start();
    rig.external = async () => {
      throw new Error('away');
    };
    const answer = await propose(rig, ingress('two'));
    expect(answer).toMatchObject({ allowed: false });
    expect(!answer.allowed && answer.error).toBeInstanceOf(Retry);
  });

  it('that could not be rendered for another reason than itself is not called refused', async () => {
    await using rig = await start();
    const answer = await propose(rig, ingress('three', { fail: true }));
    expect(!answer.allowed && answer.error).toBeInstanceOf(Refused);
    const away = { evaluate: () => Promise.reject(new Retry('no validator')) };
    const input = {
      view: new Store({ ingresses: { indexBy: [], ignoreFields: [] } }).view(),
    } as unknown as RenderInput;
    const proposal = { watch: 'ingresses', object: ingress('two') };
    const context = { signal, caller: 'admission' } as unknown as HookContext;
    expect(await judgeProposal(away, input, proposal, context)).toEqual({
      allowed: false,
      error: new Retry('no validator'),
    });
  });

  it('has no answer before a configuration serves, or when it is called off', async () => {
    await using rig = await controllerRig((waiting) => {
      waiting.judge = refusing;
    });
    await expect(propose(rig, ingress('two'))).rejects.toThrow(Retry);
    await using serving = await start();
    await expect(
      serving.controller.judgeProposal({ watch: 'ingresses', object: ingress('two') }, AbortSignal.abort()),
    ).rejects.toThrow(Cancelled);
  });

  it('is judged on what is served: an object in quarantine denies others nothing', async () => {
    await using rig = await start();
    rig.judge = refusingBackend('bad');
    rig.source.put('ingresses', ingress('bad'));
    await rig.settle();
    expect(rig.controller.status().quarantine).toMatchObject([{ object: { name: 'bad' } }]);
    expect(refusal(await propose(rig, ingress('two')))).toBe('allowed');
    expect(refusal(await propose(rig, ingress('bad', { other: true })))).toBe('judge: no bad');
    rig.judge = undefined;
    expect(refusal(await propose(rig, ingress('bad', { mended: true })))).toBe('allowed');
  });
});

describe('where the live state is refused as well', () => {
  it('a proposal passes that changes nothing about it, and no other', async () => {
    await using rig = await start();
    rig.judge = refusing;
    expect(await propose(rig, ingress('one', { note: 'same output' }))).toMatchObject({
      allowed: true,
      findings: [{ message: 'no' }],
    });
    expect(refusal(await propose(rig, ingress('two')))).toBe('judge: no');
    expect(refusal(await propose(rig, ingress('one', { fail: true })))).toBe('one fails');
  });

  it('it must be refused, not without a verdict', async () => {
    await using rig = await start();
    let runs = 0;
    rig.judge = async (candidate, findings, ...rest) => {
      if (++runs === 1) await refusing(candidate, findings, ...rest);
      else throw new Error('away');
    };
    expect(refusal(await propose(rig, ingress('one', { note: 'same output' })))).toBe('judge: no');
    expect(runs).toBe(2);
  });
});

it('a deletion is judged for its warnings and takes effect whatever they are', async () => {
  await using rig = await start();
  rig.judge = refusing;
  const deletion = { watch: 'ingresses', delete: { namespace: 'ns', name: 'one' } };
  expect(await rig.controller.judgeProposal(deletion, signal)).toMatchObject({
    allowed: true,
    findings: [{ message: 'no' }],
  });
});
