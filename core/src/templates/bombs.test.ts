import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import type { TemplateSet } from '../testing/templates.ts';

/** Megabytes that no template may need more of. */
const MEMORY = 256;

function body(text: string): TemplateSet {
  return { body: `x${text}` };
}

const long = '{% set t = "a".repeat(1000000) %}';

/** Templates that make much of little, with what each must be refused with. */
const bombs: Readonly<Record<string, readonly [TemplateSet, RegExp]>> = {
  'a list that appears twice in itself, as JSON': [
    body('{% set l = [1] %}{% for i in range(40) %}{% set l = [l, l] %}{% endfor %} {{ l | json }}'),
    /longer than 1048576 characters/,
  ],
  'a list that appears twice in itself, as YAML': [
    body('{% set l = [1] %}{% for i in range(40) %}{% set l = [l, l] %}{% endfor %} {{ l | yaml }}'),
    /longer than 1048576 characters/,
  ],
  'a list that appears twice in itself, as a status': [
    {
      main: '{% set l = [1] %}{% for i in range(40) %}{% set l = [l, l] %}{% endfor %}{% status {kind: "K", name: "n"}, l %}',
    },
    /longer than 1048576 characters/,
  ],
  'a list that appears thrice in itself, flattened': [
    body(
      '{% set l = [1] %}{% for i in range(19) %}{% set l = [l, l, l] %}{% endfor %} {{ length(l.flat(20)) }}',
    ),
    /longer than 1000000 items/,
  ],
  'a deep list as JSON': [
    body('{% set l = [1] %}{% for i in range(100000) %}{% set l = [l] %}{% endfor %} {{ l | json }}'),
    /nested more than 200 deep/,
  ],
  'a helper whose result grows': [
    body('{% set t = "!" %}{% for i in range(100) %}{% set t = regex(t) %}{% endfor %}'),
    /longer than 1048576 characters/,
  ],
  'many long lists': [body(' {{ range(1000).map(i => range(1000000)).length }}'), /more than 50000000 steps/],
  'many long texts': [
    body(`${long} {{ range(10000).map(i => (t + i).toUpperCase()).length }}`),
    /more than 50000000 steps/,
  ],
  'many texts that become long when they are compared': [
    body(`${long}{% set l = range(10000).map(i => t + (10000 + i)) %} {{ l.filter(s => s === t).length }}`),
    /more than 50000000 steps/,
  ],
  'many objects': [
    body(' {{ range(1000).map(j => range(1000000).map(i => ({a: i, b: i}))).length }}'),
    /more than 50000000 steps/,
  ],
  'many parts of a text': [
    body(' {% set t = "a,".repeat(500000) %}{{ range(1000).map(i => t.split(",")).length }}'),
    /more than 50000000 steps/,
  ],
  'pairs of long lists in each other': [
    body(
      `{% set l = range(1000000) %}${'{% for a, b in l %}'.repeat(50)} y${'{% break %}{% endfor %}'.repeat(50)}`,
    ),
    /^$/,
  ],
  'set blocks that double': [
    body('{% set s %}a{% endset %}{% for i in range(60) %}{% set s %}{{ s }}{{ s }}{% endset %}{% endfor %}'),
    /more than 50000000 steps|longer than 67108864/,
  ],
  'macros that double': [
    {
      main: '{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}y{% endmacro %}{% section "t" %}\nx {{ m(60) }}\n{% endsection %}',
    },
    /more than 50000000 steps/,
  ],
  'map entries': [
    { main: '{% for i in range(1000000) %}{% entry "m", "key" + i, "v" %}{% endfor %}', maps: { m: {} } },
    /all that is written becomes longer than 67108864 characters/,
  ],
  'sections of long texts': [
    {
      main: `{% set t = "a".repeat(1000000) %}{% for i in range(100) %}\n{% section "t" + i %}\nx {{ t }}\n{% endsection %}\n{% endfor %}`,
    },
    /all that is written becomes longer than 67108864 characters|more than 50000000 steps/,
  ],
  'a pattern with many states': [
    body(
      ' {% set t = "ab".repeat(500000) %}{% for i in range(100) %}{% if matches(t, "(?:a?b?){300}c$") %}y{% endif %}{% endfor %}',
    ),
    /more than 50000000 steps/,
  ],
};

test(`no template needs more than ${MEMORY} MiB`, { timeout: 60_000 }, async () => {
  const worker = new Worker(new URL('../testing/render-worker.ts', import.meta.url), {
    workerData: Object.fromEntries(Object.entries(bombs).map(([name, [set]]) => [name, set])),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY },
    execArgv: ['--conditions=source'],
  });
  const found = new Map<string, readonly string[]>();
  worker.on('message', ([name, problems]: [string, readonly string[]]) => found.set(name, problems));
  await new Promise<void>((resolve, reject) => {
    worker.on('error', (error) =>
      reject(new Error(`after ${[...found.keys()].at(-1)}: ${String(error)}`, { cause: error })),
    );
    worker.on('exit', () => resolve());
  });
  for (const [name, [, expected]] of Object.entries(bombs)) {
    expect([name, found.get(name)?.join('\n')]).toEqual([name, expect.stringMatching(expected)]);
    // Whoever reads it finds the place.
    expect(found.get(name)!.every((problem) => /^\S+:\d+:\d+ /.test(problem))).toBe(true);
  }
});
