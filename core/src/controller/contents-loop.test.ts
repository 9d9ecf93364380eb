import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  CONTENT_SOURCE,
  ContentMissing,
  definePlugin,
  MAIN_CONFIG,
  TEMPLATE_NAMES,
  type Candidate,
  type Rendered,
} from '../contract/index.ts';
import { controllerRig, ingress, rigSpec, type Rig } from '../testing/controller-rig.ts';
import { memoryContents, type MemoryContents } from '../testing/memory-contents.ts';
import { createController } from './create-controller.ts';

/** A contents plugin over memory; `outside.must` fails while there is nothing. */
function contentsPlugin(source: MemoryContents) {
  return definePlugin({
    name: 'contents',
    apiVersion: 1,
    options: z.strictObject({}),
    setup({ use, provide }) {
      provide(CONTENT_SOURCE, source);
      use(TEMPLATE_NAMES).global({
        name: 'outside',
        doc: '',
        members: [
          { name: 'read', doc: '' },
          { name: 'must', doc: '' },
        ],
        build: ({ contents }) => ({
          read: (key: string) => contents.read(key, {}),
          must(key: string) {
            const text = contents.read(key, {});
            if (text === undefined) throw new ContentMissing(`no content of ${key} yet`);
            return text;
          },
        }),
      });
    },
  });
}

const lines = (...expressions: readonly string[]): string =>
  `{% section "test" %}\n${expressions.map((text) => `# {{ ${text} | word }}\n`).join('')}{% endsection %}\n{% profiles %}\n`;

const A = '(outside.read("a") ?? "none")';
/** Reads a key for every Ingress. */
const perIngress =
  '{% section "test" %}\n{% for i in resources.ingresses.list() %}\n# {{ (outside.read(i.metadata.name) ?? "none") | word }}\n{% endfor %}\n{% endsection %}\n{% profiles %}\n';

function textOf(rendered: Rendered): string {
  return new TextDecoder().decode(rendered.files.read(MAIN_CONFIG));
}

/** The comments of the newest deployment. */
function deployed({ fleet }: Rig): string | undefined {
  const rendered = fleet.deployments.at(-1)?.rendered;
  return rendered === undefined
    ? undefined
    : textOf(rendered)
        .match(/(?<=^# )\S+$/gm)
        ?.join();
}

/** Refuses what holds "bad". */
async function judge(
  { rendered }: Candidate,
  findings: Parameters<NonNullable<Rig['judge']>>[1],
): Promise<void> {
  await Promise.resolve();
  if (/bad/.test(textOf(rendered))) findings.add({ severity: 'error', message: 'it is bad' });
}

async function start(
  template: string,
  prepare: (rig: Omit<Rig, 'controller'>, source: MemoryContents) => void = () => {},
): Promise<Rig & { readonly contents: MemoryContents }> {
  const contents = memoryContents();
  const rig = await controllerRig(
    (parts) => {
      parts.source.spec = rigSpec(template);
      parts.judge = judge;
      prepare(parts, contents);
    },
    (options) =>
      createController({ ...options, plugins: [...options.plugins, { plugin: contentsPlugin(contents) }] }),
  );
  return Object.assign(rig, { contents });
}

describe('contents', () => {
  it('are wanted by what serves, and sent out only after a synchronous pass', async () => {
    await using rig = await start(lines(A));
    expect(deployed(rig)).toBe('none');
    expect(rig.contents.wanted).toEqual(['a']);
    rig.contents.bring('a', 'one');
    await rig.settle();
    expect(deployed(rig)).toBe('one');
    expect(rig.told).toContain('judged promotion passed');
  });

  it('stay as they were when the next ones are refused, until these change', async () => {
    await using rig = await start(lines(A));
    rig.contents.bring('a', 'one');
    await rig.settle();
    rig.contents.bring('a', 'bad');
    await rig.settle();
    expect(deployed(rig)).toBe('one');
    expect(rig.contents.refused).toEqual(['a=bad']);
    const { length } = rig.told;
    rig.source.put('ingresses', ingress('other'));
    await rig.settle();
    expect(rig.told.slice(length).filter((line) => line.includes('promotion'))).toEqual([]);
    rig.contents.bring('a', 'two');
    await rig.settle();
    expect(deployed(rig)).toBe('two');
  });

  it('are not wanted for a configuration that was taken back while it was judged', async () => {
    await using rig = await start(lines(A));
    const { promise, resolve: answer } = Promise.withResolvers<void>();
    rig.judge = async (_candidate, _findings, _signal, { caller }) => {
      if (caller === 'load-gate') await promise;
    };
    for (const template of [lines(A, '(outside.read("b") ?? "none")'), lines(A)]) {
      rig.source.spec = rigSpec(template);
      rig.source.changed();
      await rig.clock.advance(500);
      await rig.settle();
    }
    answer();
    await rig.settle();
    expect(rig.contents.wanted).toEqual(['a']);
  });

  it('that were refused have another chance under another configuration', async () => {
    await using rig = await start(lines(A));
    rig.contents.bring('a', 'bad');
    await rig.settle();
    expect(deployed(rig)).toBe('none');
    rig.source.spec = rigSpec(lines(`${A}.replace("bad", "good")`));
    rig.source.changed();
    await rig.clock.advance(500);
    await rig.settle();
    expect(deployed(rig)).toBe('good');
  });

  it('wait where a judge gives no verdict, and are tried again', async () => {
    await using rig = await start(lines(A));
    rig.judge = async () => {
      throw new Error('the judge is ill');
    };
    rig.contents.bring('a', 'one');
    await rig.settle();
    expect(rig.contents.refused).toEqual([]);
    expect(rig.contents.accepted().size).toBe(0);
    rig.judge = judge;
    await rig.clock.advance(60_000);
    await rig.settle();
    expect(deployed(rig)).toBe('one');
  });

  it('are not blamed for a bad object that came at the same time', async () => {
    await using rig = await start(
      `{% for i in resources.ingresses.list() %}{% if i.metadata.name === "broken" %}{% do fail("broken") %}{% endif %}{% endfor %}\n${lines(A)}`,
    );
    rig.source.put('ingresses', ingress('broken'));
    rig.contents.bring('a', 'one');
    await rig.settle();
    expect(deployed(rig)).toBe('none');
    expect(rig.contents.refused).toEqual([]);
    rig.source.watching
      .at(-1)!
      .sink.apply('ingresses', { upserts: [], deletes: [{ namespace: 'ns', name: 'broken' }] });
    await rig.clock.advance(60_000);
    await rig.settle();
    expect(deployed(rig)).toBe('one');
  });

  it('are wanted for objects while these are there', async () => {
    await using rig = await start(perIngress);
    rig.source.put('ingresses', ingress('x'));
    await rig.clock.advance(100);
    await rig.settle();
    expect(rig.contents.wanted).toEqual(['x']);
    rig.contents.bring('x', 'one');
    await rig.settle();
    expect(deployed(rig)).toBe('one');
    rig.source.watching
      .at(-1)!
      .sink.apply('ingresses', { upserts: [], deletes: [{ namespace: 'ns', name: 'x' }] });
    await rig.clock.advance(100);
    await rig.settle();
    expect(rig.contents.wanted).toEqual([]);
  });

  it('are not wanted for what an admission asks about', async () => {
    await using rig = await start(perIngress);
    const input = rig.controller.status().input!;
    const watch = input.view.watch('ingresses');
    const proposal = { list: () => [ingress('evil')] };
    const view = {
      ...input.view,
      watches: input.view.watches,
      watch: () => Object.assign(Object.create(watch) as typeof watch, proposal),
    };
    const context = { signal: new AbortController().signal, caller: 'admission' } as const;
    const { rendered } = await rig.controller.pipeline.evaluate({ ...input, view }, context);
    await rig.settle();
    expect(rendered.requests?.map(({ key }) => key)).toEqual(['evil']);
    expect(rig.contents.wanted).toEqual([]);
  });

  it('are there for the first deployment when they can be had', async () => {
    await using rig = await start(lines(A), (_rig, source) => {
      source.attempt = async (keys) => keys.forEach((key) => source.bring(key, 'early'));
    });
    expect(rig.fleet.deployments.map(({ rendered }) => textOf(rendered).includes('# none'))).toEqual([false]);
    expect(deployed(rig)).toBe('early');
    expect(rig.contents.accepted().get('a')).toBe('early');
  });

  it('hold a configuration that can not do without them, and let it go when they come', async () => {
    await using rig = await start(lines('outside.must("a")'));
    expect(rig.controller.status().phase).toBe('waiting');
    expect(rig.controller.status().problem?.message).toContain('no content of a yet');
    expect(rig.contents.wanted).toEqual(['a']);
    rig.contents.bring('a', 'one');
    await rig.settle();
    expect(rig.controller.status().phase).toBe('serving');
    expect(deployed(rig)).toBe('one');
  });

  it('that an object can not do without hold all changes until they come, and it is not blamed', async () => {
    const perObject =
      '{% for i in resources.ingresses.list() %}{% section i.metadata.name, i %}\n# {{ outside.must(i.metadata.name) | word }}\n{% endsection %}{% endfor %}\n{% profiles %}\n';
    await using rig = await start(perObject.replaceAll('%}{%', '%}\n{%'));
    rig.source.put('ingresses', ingress('x'));
    await rig.clock.advance(100);
    await rig.settle();
    expect(rig.contents.wanted).toEqual(['x']);
    expect(rig.controller.status().problem?.message).toContain('no content of x yet');
    rig.contents.bring('x', 'one');
    await rig.settle();
    expect(deployed(rig)).toBe('one');
    expect(rig.controller.status().problem).toBeUndefined();
  });

  it('of a configuration that waits are judged by that one, while the other goes on', async () => {
    await using rig = await start(lines(A));
    rig.source.spec = rigSpec(lines(A, 'outside.must("b")'));
    rig.source.changed();
    await rig.clock.advance(500);
    await rig.settle();
    expect(rig.contents.wanted.toSorted()).toEqual(['a', 'b']);
    rig.contents.bring('b', 'bad');
    await rig.settle();
    expect(deployed(rig)).toBe('none');
    expect(rig.contents.accepted().size).toBe(0);
    rig.contents.bring('b', 'two');
    await rig.settle();
    expect(deployed(rig)).toBe('none,two');
  });

  it('that no pass has used go to no pod before they are judged', async () => {
    await using rig = await start(perIngress);
    // As one that is kept from the last run.
    rig.contents.accept(new Map([['x', 'bad']]));
    rig.source.put('ingresses', ingress('x'));
    await rig.clock.advance(100);
    await rig.settle();
    expect(rig.fleet.deployments.some(({ rendered }) => textOf(rendered).includes('bad'))).toBe(false);
    expect(rig.told).toContain('judged reconcile refused');
  });

  it('are kept up to date by those who do not lead, who send nothing', async () => {
    await using rig = await start(lines(A), (parts) => {
      parts.term.current = { leader: false, epoch: 1, signal: new AbortController().signal };
    });
    rig.contents.bring('a', 'one');
    await rig.settle();
    expect(rig.contents.accepted().get('a')).toBe('one');
    expect(rig.fleet.deployments).toEqual([]);
  });
});
