import { expect, it } from 'vitest';
import {
  CONTENT_SOURCE,
  definePlugin,
  MAIN_CONFIG,
  Retry,
  STATE_STORE,
  TEMPLATE_NAMES,
  z,
  type KubeObject,
  type Rendered,
  type StateStore,
} from '../contract/index.ts';
import { Revisions } from '../quarantine/identity.ts';
import { basisOf } from '../quarantine/reference.ts';
import { controllerRig, ingress, rigSpec, type JudgeRun, type Rig } from '../testing/controller-rig.ts';
import { memoryContents, type MemoryContents } from '../testing/memory-contents.ts';
import { memoryStateStore } from '../testing/quarantine-rig.ts';
import { createController } from './create-controller.ts';
import { sha256 } from './sha256.ts';

const template = (name: string): string => `{% section "test" %}
# ${name}
# {{ (outside.read("a") ?? "none") | word }}
{% for i in resources.ingresses.list() %}
# {{ i.spec.text | word }}
{% endfor %}
{% endsection %}
{% profiles %}
`;

const saying = (name: string, text: string): KubeObject => ingress(name, { text });

/** The comments in it. */
function shown({ files }: Rendered): string {
  const text = new TextDecoder().decode(files.read(MAIN_CONFIG));
  return [...text.matchAll(/^# (\S+)$/gm)].map(([, word]) => word).join(' ');
}

/** What was sent out. */
function sent({ fleet }: Rig): readonly string[] {
  return fleet.deployments.map(({ rendered }) => shown(rendered));
}

/** A controller that does not lead; whoever does has come to hold the Ingress `bad` since it started. */
async function follower(): Promise<Rig & { readonly contents: MemoryContents; readonly store: StateStore }> {
  const contents = memoryContents();
  const store = memoryStateStore();
  const plugin = definePlugin({
    name: 'surroundings',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ provide, use }) {
      provide(STATE_STORE, store);
      provide(CONTENT_SOURCE, contents);
      use(TEMPLATE_NAMES).global({
        name: 'outside',
        doc: '',
        members: [{ name: 'read', doc: '' }],
        build: (input) => ({ read: (key: string) => input.contents.read(key, {}) }),
      });
    },
  });
  const rig = await controllerRig(
    ({ source, term }) => {
      source.spec = rigSpec(template('first'));
      source.objects['ingresses'] = [saying('bad', 'worse'), saying('good', 'fine')];
      term.current = { leader: false, epoch: 1, signal: new AbortController().signal };
    },
    (options) => createController({ ...options, plugins: [...options.plugins, { plugin }] }),
  );
  const { view, config, fleet } = rig.controller.status().input!;
  const entry = {
    watch: 'ingresses',
    object: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'ns', name: 'bad' },
    revision: new Revisions(sha256).of(view.watch('ingresses').get('ns', 'bad')!),
    reason: 'the HAProxy of a pod refused it, which no judge does',
    instead: 'nothing',
    since: rig.clock.wall(),
    refusedAt: rig.clock.wall(),
    basis: basisOf(config, fleet),
    doubtful: false,
  };
  store.documents.set('quarantine', JSON.stringify({ version: 1, entries: [entry], offences: [] }));
  return Object.assign(rig, { contents, store });
}

function lead(rig: Rig): void {
  rig.term.current = { leader: true, epoch: 2, signal: new AbortController().signal };
}

/** A judge that answers this caller only when it is told to. */
function waiting(caller: string): { readonly judge: JudgeRun; readonly answer: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return {
    judge: async (_candidate, _findings, _signal, context) => {
      if (context.caller === caller) await promise;
    },
    answer: resolve,
  };
}

it('a term that begins while contents are judged sends out nothing that its predecessor held', async () => {
  await using rig = await follower();
  const { judge, answer } = waiting('promotion');
  rig.judge = judge;
  // Both are looked at in the same moment.
  rig.contents.bring('a', 'text');
  rig.source.put('ingresses', saying('good', 'better'));
  await rig.settle();
  lead(rig);
  answer();
  await rig.settle();
  expect(sent(rig)).toEqual(['first text better']);
});

it('nor does one that begins while a configuration is judged', async () => {
  await using rig = await follower();
  const { judge, answer } = waiting('load-gate');
  rig.judge = judge;
  rig.source.spec = rigSpec(template('second'));
  rig.source.changed();
  await rig.clock.advance(500);
  await rig.settle();
  lead(rig);
  answer();
  await rig.settle();
  expect(sent(rig)).toEqual(['second none fine']);
});

it.each([1, 4])('nor does one that begins while it is judged once more, repeat %i', async (repeats) => {
  await using rig = await follower();
  const judged: string[] = [];
  let waits = waiting('load-gate');
  rig.contents.bring('a', 'text-0');
  await rig.settle();
  rig.judge = async (candidate, findings, signal, context) => {
    if (context.caller === 'load-gate') judged.push(shown(candidate.rendered));
    await waits.judge(candidate, findings, signal, context);
  };
  rig.source.spec = rigSpec(template('second'));
  rig.source.changed();
  await rig.clock.advance(500);
  await rig.settle();
  for (let repeat = 1; repeat <= repeats; repeat++) {
    // What is accepted meanwhile is to be in it.
    rig.contents.bring('a', `text-${repeat}`);
    await rig.settle();
    const { answer } = waits;
    waits = waiting('load-gate');
    answer();
    await rig.settle();
  }
  lead(rig);
  waits.answer();
  await rig.settle();
  const text = `text-${repeats}`;
  expect(judged.slice(repeats)).toEqual([`second ${text} worse fine`, `second ${text} fine`]);
  expect(sent(rig)).toEqual([`second ${text} fine`]);
});

it('nor what it takes up while a configuration is judged, though nothing goes out before that has passed', async () => {
  await using rig = await follower();
  const { judge, answer } = waiting('load-gate');
  rig.judge = async (candidate, findings, signal, context) => {
    if (context.caller === 'reconcile') throw new Retry('no verdict now');
    await judge(candidate, findings, signal, context);
  };
  rig.source.spec = rigSpec(template('second'));
  rig.source.changed();
  await rig.clock.advance(500);
  await rig.settle();
  lead(rig);
  rig.source.put('ingresses', saying('good', 'better'));
  await rig.settle();
  await rig.clock.advance(50);
  await rig.settle();
  expect(sent(rig)).toEqual([]);
  expect(rig.controller.status().problem?.message).toContain('no verdict now');
  answer();
  await rig.settle();
  expect(sent(rig)).toEqual(['second none better']);
});

it('a store that never answers keeps no leader from its work', async () => {
  await using rig = await follower();
  const { promise } = Promise.withResolvers<undefined>();
  rig.store.read = () => promise;
  lead(rig);
  rig.source.put('ingresses', saying('good', 'better'));
  await rig.settle();
  await rig.clock.advance(50);
  await rig.settle();
  expect(sent(rig)).toEqual([]);
  await rig.clock.advance(5_000);
  await rig.settle();
  expect(sent(rig)).toEqual(['first none worse better']);
  expect(rig.log.records.map(({ message }) => message)).toContain(
    'the state of the leader before is not known',
  );
});
