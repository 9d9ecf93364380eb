import { describe, expect, it } from 'vitest';
import { MAIN_CONFIG, type Candidate, type Deployment } from '../contract/index.ts';
import { controllerRig, ingress, rigSpec, type Rig } from '../testing/controller-rig.ts';

async function change(rig: Rig, spec: unknown): Promise<void> {
  rig.source.spec = spec;
  rig.source.changed();
  await rig.clock.advance(500);
  await rig.settle();
}

/** The configuration's name and its backends. */
function shown({ rendered }: Pick<Deployment, 'rendered'>): string {
  const text = new TextDecoder().decode(rendered.files.read(MAIN_CONFIG));
  return [/^# (\S+) \d/m.exec(text)![1], ...Object.keys(rendered.plan.backends)].join(' ');
}

const sent = (rig: Rig): string[] => rig.fleet.deployments.map(shown);
const judgedConfig = ({ config }: Candidate): string => config.haproxyConfig.template;

/** Puts an Ingress and lets the debounce pass. */
async function put(rig: Rig, name: string): Promise<void> {
  rig.source.put('ingresses', ingress(name));
  await rig.settle();
  await rig.clock.advance(50);
  await rig.settle();
}

/** A controller that serves, and a change of its configuration that one judge does not answer about before `answer`. */
async function examining(kind: 'judge' | 'external' | 'custom' = 'external') {
  const rig = await controllerRig(({ source }) => void (source.objects['ingresses'] = [ingress('one')]));
  const { promise, resolve: answer } = Promise.withResolvers<void>();
  rig[kind] = async (candidate) => {
    if (judgedConfig(candidate) === 'second') await promise;
  };
  await change(rig, rigSpec('second'));
  expect(rig.told).not.toContain('accepted second');
  return { rig, answer };
}

/** Likewise; `next` answers once, and then waits until the judge is asked again. */
async function questioned() {
  const { rig, answer } = await examining();
  let answerNext = answer;
  const next = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    rig.external = async (candidate, _findings, signal, { caller }) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (caller === 'load-gate' && judgedConfig(candidate) === 'second') await promise;
    };
    answerNext();
    answerNext = resolve;
    await rig.settle();
  };
  return { rig, next };
}

describe('while a configuration is judged', () => {
  it.each(['judge', 'external', 'custom'] as const)(
    'changes of objects go out with the one that serves, though a %s does not answer',
    async (kind) => {
      const { rig, answer } = await examining(kind);
      await using _ = rig;
      await put(rig, 'two');
      await put(rig, 'three');
      expect(sent(rig)).toEqual(['x one', 'x one two', 'x one three two']);
      expect(rig.controller.status()).toMatchObject({
        phase: 'serving',
        gate: { state: 'open', pending: [] },
      });
      answer();
    },
  );

  it('what went out meanwhile is in the first render of the new one, and that is judged as well', async () => {
    const { rig, answer } = await examining();
    await using _ = rig;
    await put(rig, 'two');
    const judged: string[] = [];
    rig.judge = async (candidate, _findings, _signal, { caller }) => {
      if (caller === 'load-gate') judged.push(shown(candidate));
    };
    answer();
    await rig.settle();
    expect(rig.told).toContain('accepted second');
    expect(judged.at(-1)).toBe('second one two');
    expect(sent(rig)).toEqual(['x one', 'x one two', 'second one two']);
  });

  it('it does not come to serve where it refuses what was accepted meanwhile', async () => {
    const { rig, answer } = await examining();
    await using _ = rig;
    await put(rig, 'two');
    rig.judge = async (candidate, findings) => {
      const isBad = judgedConfig(candidate) === 'second' && shown(candidate).includes('two');
      if (isBad) findings.add({ severity: 'error', message: 'no two' });
    };
    answer();
    await rig.settle();
    expect(rig.told.at(-1)).toBe('rejected judge: no two');
    expect(sent(rig)).toEqual(['x one', 'x one two']);
    expect(rig.controller.status().config?.haproxyConfig.template).toBe('x');
  });

  it('a newer one calls it off, and nobody is told of it', async () => {
    const { rig, answer } = await examining();
    await using _ = rig;
    await change(rig, rigSpec('third'));
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.told).toContain('accepted third');
    answer();
    await rig.settle();
    expect(rig.told.filter((line) => /^(?:accepted|rejected)/.test(line))).toEqual([
      'accepted x',
      'accepted third',
    ]);
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('once more, that holds up nothing either, and a newer one calls it off as well', async () => {
    const { rig, next } = await questioned();
    await using _ = rig;
    await put(rig, 'two');
    await next();
    await put(rig, 'three');
    expect(sent(rig)).toEqual(['x one', 'x one two', 'x one three two']);
    await change(rig, rigSpec('third'));
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.told).toContain('accepted third');
    expect(sent(rig).at(-1)).toBe('third one three two');
  });

  it('again and again, changes wait for the last time, so that it comes to serve', async () => {
    const { rig, next } = await questioned();
    await using _ = rig;
    for (const names of ['a', 'a b', 'a b c', 'a b c d']) {
      await put(rig, names.at(-1)!);
      expect(sent(rig).at(-1)).toBe(`x ${names} one`);
      await next();
    }
    await put(rig, 'e');
    expect(sent(rig).at(-1)).toBe('x a b c d one');
    await next();
    await put(rig, 'f');
    expect(rig.told).toContain('accepted second');
    expect(sent(rig).slice(-4)).toEqual([
      'x a b c d one',
      'second a b c d one',
      'second a b c d e one',
      'second a b c d e f one',
    ]);
  });

  it('for the last time, a newer one calls it off as well', async () => {
    const { rig, next } = await questioned();
    await using _ = rig;
    for (const name of ['a', 'b', 'c', 'd']) {
      await put(rig, name);
      await next();
    }
    await change(rig, rigSpec('third'));
    await rig.clock.advance(1_000);
    await rig.settle();
    expect(rig.told).toContain('accepted third');
    expect(rig.told.filter((line) => line.startsWith('rejected'))).toEqual([]);
  });

  it('the end of the process waits for its end, which comes in a moment', async () => {
    const { rig, answer } = await examining();
    await using _ = rig;
    let isStopped = false;
    const stopped = rig.stop().then(() => (isStopped = true));
    await rig.settle();
    expect(isStopped).toBe(false);
    await rig.clock.advance(1_000);
    await stopped;
    answer();
    expect(rig.told).not.toContain('accepted second');
  });
});
