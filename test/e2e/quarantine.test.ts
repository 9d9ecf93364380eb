import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { startUp, up, type Up, type UpOptions } from './haptic-process.ts';
import { ingress } from './objects.ts';
import { answer, site } from './site.ts';

const soon = { deadlineMs: 30_000 };

/** Annotations become words of a section of their own, and refusals of the template. */
const SNIPPETS = (seconds: string): string => `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: { name: mine }
spec:
  templateSnippets:
    section-queues:
      template: |
        {% for app in ingress.ingresses %}
        {% set queue = app.annotations["example.org/queue"] %}
        {% if queue %}
        {% section "backend queue-" + app.namespace + "-" + app.name, app.object %}
        backend {{ "queue-" + app.namespace + "-" + app.name }} from base
            timeout queue {{ queue + "${seconds}" }}
            {% if queue === "never" %}{% do fail("a queue must end") %}{% endif %}
        {% endsection %}
        {% endif %}
        {% endfor %}
`;

function withQueue(name: string, queue: string): string {
  const text = ingress(name, `${name}.example`, { '/': 'app' });
  return text.replace('spec:', `  annotations: { example.org/queue: "${queue}" }\nspec:`);
}

interface Stage extends Awaited<ReturnType<typeof site>> {
  readonly options: UpOptions;
  /** Replaces the configuration. */
  readonly configure: (seconds: string) => Promise<void>;
}

/** A site with a configuration, to be run over a folder that stays. */
async function stage(haproxy: string): Promise<Stage> {
  const [own, config, kept] = [await site(), await tempDir(), await tempDir()];
  const configure = (seconds: string): Promise<void> =>
    writeFile(join(config, 'config.yaml'), SNIPPETS(seconds));
  await configure('s');
  const host = join(await tempDir(), 'haptic.config.yaml');
  const agent = `{ use: '@haptic/deploy-agent', options: { dir: ${join(kept, 'base')} } }`;
  await writeFile(host, `plugins:\n  - ${agent}\n`);
  const args = [`--config=${config}`, `--host-config=${host}`];
  return { ...own, configure, options: { haproxy, resources: [own.dir], args } };
}

function becomes(run: Up, expected: string | number, host: string): Promise<unknown> {
  const what = `${host} is answered by ${expected}`;
  return until(async () => (await answer(run.port, host)) === expected, { ...soon, what });
}

/** Names of what is reported by an event of some kind. */
function reported(run: Up, kind: 'held' | 'released'): readonly string[] {
  return run
    .events()
    .filter(({ event }) => event === kind)
    .map(({ object }) => (object as { readonly name: string }).name);
}

async function end(run: Up): Promise<void> {
  process.kill(run.pid, 'SIGTERM');
  expect(await run.ended).toBe(0);
}

forEachVersion(
  ({ binary }) => {
    test('one bad Ingress among a hundred is held, and nobody else is', async () => {
      const { write, dir, options } = await stage(binary);
      for (let index = 0; index < 100; index++) {
        await write(`good-${index}.yaml`, ingress(`good-${index}`, `good-${index}.example`, { '/': 'app' }));
      }
      await write('bad.yaml', withQueue('bad', '5 parsecs'));
      // Of two equal routes the first by name counts, whether or not its object is held.
      const claim = (name: string, host: string): Promise<void> =>
        write(`${name}.yaml`, withQueue(name, '5 parsecs').replace(`${name}.example`, host));
      await claim('late', 'good-7.example');
      await claim('early', 'good-8.example');

      // It does not stop the start: its host is there, and answers 503.
      const run = await up(options);
      await becomes(run, 'app', 'good-99.example');
      expect(await answer(run.port, 'bad.example')).toBe(503);
      expect(await answer(run.port, 'good-7.example')).toBe('app');
      expect(await answer(run.port, 'good-8.example')).toBe(503);
      await rm(join(dir, 'late.yaml'));
      await rm(join(dir, 'early.yaml'));
      await becomes(run, 'app', 'good-8.example');
      const held = run
        .events()
        .find(
          ({ event, object }) => event === 'held' && (object as { readonly name: string }).name === 'bad',
        );
      expect(held).toMatchObject({ instead: 'unavailable', object: { kind: 'Ingress', name: 'bad' } });
      expect(held!['reason']).toContain("in 'timeout queue'");

      // The others go on.
      for (const index of [0, 50, 99]) {
        await write(`good-${index}.yaml`, ingress(`good-${index}`, `new-${index}.example`, { '/': 'app' }));
        await becomes(run, 'app', `new-${index}.example`);
      }

      // Mended, it is served; broken again, it is served as it was.
      await write('bad.yaml', withQueue('bad', '5'));
      await becomes(run, 'app', 'bad.example');
      await until(() => reported(run, 'released').includes('bad'), soon);
      await write('bad.yaml', withQueue('bad', 'again'));
      await until(() => reported(run, 'held').filter((name) => name === 'bad').length === 2, soon);
      expect(await answer(run.port, 'bad.example')).toBe('app');
      await write('good-1.yaml', ingress('good-1', 'new-1.example', { '/': 'app' }));
      await becomes(run, 'app', 'new-1.example');

      // A restart forgets nothing.
      await end(run);
      const next = await up(options);
      await becomes(next, 'app', 'new-1.example');
      expect(await answer(next.port, 'bad.example')).toBe('app');

      // Deleted, it is gone.
      await rm(join(dir, 'bad.yaml'));
      await becomes(next, 404, 'bad.example');
      await until(() => reported(next, 'released').includes('bad'), soon);
      await end(next);
    });

    test('a configuration that refuses what was good is the culprit, live and at a start', async () => {
      const { write, configure, options } = await stage(binary);
      for (const name of ['a', 'b']) await write(`${name}.yaml`, withQueue(name, '5'));
      const run = await up(options);
      await becomes(run, 'app', 'b.example');
      const isRejected = (of: Up): boolean =>
        of.errors().some(({ msg, err }) => msg === 'a configuration was rejected' && isAboutAccepted(err));
      await configure(' parsecs');
      await until(() => isRejected(run), soon);
      await write('c.yaml', withQueue('c', '5'));
      await becomes(run, 'app', 'c.example');
      // What is accepted is written down behind the changes, at the latest at the end.
      await end(run);

      const next = await startUp(options);
      await until(() => isRejected(next), soon);
      expect([...reported(run, 'held'), ...reported(next, 'held')]).toEqual([]);
      expect(next.events().map(({ event }) => event)).toEqual(['starting']);
      await configure('s');
      await becomes(next, 'app', 'c.example');
      await end(next);
    });

    test('a template that refuses objects of several namespaces is the culprit at a first start', async () => {
      const { write, options } = await stage(binary);
      for (const name of ['a', 'b']) {
        await write(
          `${name}.yaml`,
          withQueue(name, 'never').replace('namespace: default', `namespace: ${name}`),
        );
      }
      const run = await startUp(options);
      const words = 'one line of a template fails for objects of several namespaces (a, b): a queue must end';
      await until(() => run.stderr().includes(words), soon);
      expect(reported(run, 'held')).toEqual([]);
      // One of them is its own fault.
      await write('b.yaml', withQueue('b', '5'));
      await becomes(run, 'app', 'b.example');
      expect(await answer(run.port, 'a.example')).toBe(503);
      expect(reported(run, 'held')).toEqual(['a']);
      await end(run);
    });
  },
  ['3.4'],
);

function isAboutAccepted(error: unknown): boolean {
  return (error as Error).message.includes('it refuses what was accepted before: Ingress default/a');
}
