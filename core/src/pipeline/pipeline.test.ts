import { describe, expect, it } from 'vitest';
import { mergeSources } from '../config/index.ts';
import {
  Bug,
  Cancelled,
  PluginError,
  Refused,
  type FleetFacts,
  type FindingCollector,
  type Hooks,
  type MergedConfig,
} from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { controllerRules, createHooks, Host } from '../host/index.ts';
import { Renderer } from '../render/renderer.ts';
import { fixtureView } from '../store/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import { renderOutput, section } from '../testing/render-output.ts';
import { Pipeline } from './pipeline.ts';

const fleet: FleetFacts = { haproxyVersion: '3.4.7', paths: { base: '/b', workerSocket: '/s' } };
const spec = {
  haproxyConfig: { template: 'x' },
  watchedResources: { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } },
};

interface Stage {
  readonly hooks: Hooks;
  readonly pipeline: Pipeline;
  readonly told: string[];
  readonly abort: AbortController;
  readonly context: { readonly signal: AbortSignal; readonly caller: 'admission' };
  prepared(): MergedConfig;
}

/** The stages over real hooks with a source, a program and judges that a test may replace. */
async function stage({
  load = (provide: () => void): void => provide(),
  render = (): void => {},
  judge = (_findings: FindingCollector): void => {},
}: {
  readonly load?: (provide: () => void, abort: AbortController) => void;
  readonly render?: (abort: AbortController) => void;
  readonly judge?: ((findings: FindingCollector, abort: AbortController) => void) | null;
} = {}): Promise<Stage> {
  const hooks = createHooks();
  const clock = fakeClock();
  const abort = new AbortController();
  const told: string[] = [];
  const program = {
    render: async () => {
      render(abort);
      return renderOutput({ pieces: [section('x', 'cache x\n')] });
    },
  };
  const renderer = new Renderer(() => program, sha256, clock);
  hooks.load.tapPromise('source', async (collector) => {
    load(() => collector.provide([{ kind: 'config', name: 'main', spec }]), abort);
  });
  hooks.render.tapPromise('core', (input, context) => renderer.render(input, context));
  if (judge !== null) {
    hooks.validate.for('haproxy').tapPromise('judge', async (_candidate, findings) => judge(findings, abort));
  }
  hooks.rendered.tap('test', () => void told.push('rendered'));
  hooks.judged.tap('test', (_plan, { kind }) => void told.push(`judged ${kind}`));
  const { observers, deadlines } = controllerRules;
  await Host.start({ hooks, observers, deadlines, plugins: [], log: memoryLog(), clock });
  const pipeline = new Pipeline({
    hooks,
    merge: (set) => mergeSources(set, [], sha256),
    renderer,
    hash: sha256,
    clock,
  });
  return {
    hooks,
    pipeline,
    told,
    abort,
    context: { signal: abort.signal, caller: 'admission' },
    prepared() {
      const set = { sources: [{ kind: 'config', name: 'main', spec } as const] };
      return pipeline.prepare(pipeline.merge(set), () => true).config;
    },
  };
}

const view = fixtureView({ ingresses: { indexBy: [], ignoreFields: [] } }, {});

describe('load', () => {
  it('gives the set that the source provides', async () => {
    const { pipeline, context } = await stage();
    expect((await pipeline.load(context)).sources).toMatchObject([{ name: 'main' }]);
  });

  it('refuses a source that provides nothing, and blames one that provides twice', async () => {
    const nothing = await stage({ load: () => {} });
    await expect(nothing.pipeline.load(nothing.context)).rejects.toThrow('source found no configuration');
    const twice = await stage({
      load(provide) {
        provide();
        provide();
      },
    });
    await expect(twice.pipeline.load(twice.context)).rejects.toThrow(PluginError);
  });

  it('says what the source speaks of, also of a set that is none', async () => {
    const { pipeline, context, hooks } = await stage({ load: () => {} });
    const version = { namespace: 'ns', name: 'haptic', uid: 'u', generation: 7 };
    hooks.load.tap('version', (collector) => collector.version(version));
    const told: unknown[] = [];
    await expect(pipeline.load(context, (one) => void told.push(one))).rejects.toThrow(Refused);
    expect(told).toEqual([version]);
  });

  it.each(['before', 'during'] as const)('gives nothing when called off %s', async (when) => {
    const { pipeline, context, abort } = await stage({
      load(provide, abort) {
        provide();
        abort.abort();
      },
    });
    if (when === 'before') abort.abort();
    await expect(pipeline.load(context)).rejects.toThrow(Cancelled);
  });
});

describe('merge', () => {
  it('lets taps look and nothing else', async () => {
    const { pipeline, hooks } = await stage();
    const seen: string[] = [];
    hooks.merge.tap('looks', (merged) => {
      seen.push(merged.haproxyConfig.template);
      return merged;
    });
    const set = { sources: [{ kind: 'config', name: 'main', spec } as const] };
    pipeline.merge(set);
    expect(seen).toEqual(['x']);
    hooks.merge.tap('edits', (merged) => ({ ...merged, settings: { evil: true } }));
    expect(() => pipeline.merge(set)).toThrow(Bug);
  });
});

describe('prepare', () => {
  it('refuses a required watch that is not served', async () => {
    const { pipeline } = await stage();
    const merged = pipeline.merge({ sources: [{ kind: 'config', name: 'main', spec }] });
    expect(() => pipeline.prepare(merged, () => false)).toThrow(Refused);
  });

  it('comes before a render', async () => {
    const { pipeline, context } = await stage();
    const config = pipeline.merge({ sources: [{ kind: 'config', name: 'main', spec }] });
    await expect(pipeline.render({ config, view, fleet }, context)).rejects.toThrow('before it was prepared');
  });
});

describe('evaluate', () => {
  const evaluate = async (stage: Stage): Promise<unknown> => {
    const config = stage.prepared();
    return await stage.pipeline.evaluate({ config, view, fleet }, stage.context);
  };

  it('gives a render with the verdict on it, and tells observers', async () => {
    const passing = await stage();
    expect(await evaluate(passing)).toMatchObject({
      verdict: { kind: 'passed' },
      rendered: { plan: { schema: 1 } },
    });
    expect(passing.told).toEqual(['rendered', 'judged passed']);
  });

  it('asks judges again about equal bytes', async () => {
    let asked = 0;
    const counting = await stage({ judge: () => void asked++ });
    await evaluate(counting);
    await evaluate(counting);
    expect(asked).toBe(2);
  });

  it('gives no verdict without a judge of HAProxy, and tells nobody of one', async () => {
    const without = await stage({ judge: null });
    expect(await evaluate(without)).toMatchObject({ verdict: { kind: 'interrupted' } });
    expect(without.told).toEqual(['rendered']);
  });

  it('gives no verdict when a judge throws', async () => {
    const broken = await stage({
      judge() {
        throw new Error('broken');
      },
    });
    expect(await evaluate(broken)).toMatchObject({
      verdict: { kind: 'interrupted', reason: 'judge: validate:haproxy failed: broken' },
    });
    expect(broken.told).toEqual(['rendered']);
  });

  it('publishes nothing when called off before it begins', async () => {
    const off = await stage();
    off.abort.abort();
    await expect(evaluate(off)).rejects.toThrow(Cancelled);
    expect(off.told).toEqual([]);
  });

  it('publishes nothing when called off during the render', async () => {
    const off = await stage({ render: (abort) => abort.abort() });
    await expect(evaluate(off)).rejects.toThrow(Cancelled);
    expect(off.told).toEqual([]);
  });

  it.each(['nothing', 'an error'] as const)(
    'publishes no verdict when called off while a judge finds %s',
    async (what) => {
      const off = await stage({
        judge(findings, abort) {
          if (what === 'an error') findings.add({ severity: 'error', message: 'no' });
          abort.abort();
        },
      });
      await expect(evaluate(off)).rejects.toThrow(Cancelled);
      expect(off.told).toEqual(['rendered']);
    },
  );

  it('hands on what a render refuses', async () => {
    const refusing = await stage({
      render() {
        throw new Refused('no such thing');
      },
    });
    await expect(evaluate(refusing)).rejects.toThrow(Refused);
    expect(refusing.told).toEqual([]);
  });

  it('names the core for anything else that goes wrong in a render', async () => {
    const broken = await stage({
      render() {
        throw new TypeError('x is undefined');
      },
    });
    await expect(evaluate(broken)).rejects.toThrow('core: render failed: x is undefined');
  });

  it('renders again from what was prepared once', async () => {
    const twice = await stage();
    const [a, b] = [twice.prepared(), twice.prepared()];
    expect(a.digest).toBe(b.digest);
    const render = async (config: MergedConfig): Promise<string> =>
      (await twice.pipeline.render({ config, view, fleet }, twice.context)).plan.id;
    expect(await render(a)).toBe(await render(b));
  });
});
