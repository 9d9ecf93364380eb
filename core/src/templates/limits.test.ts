import { describe, expect, test } from 'vitest';
import { Cancelled, type Clock } from '../contract/index.ts';
import { compileTemplates, problemsOf, renderTemplates } from '../testing/templates.ts';
import { RenderTimeout } from './errors.ts';

/** A clock that moves by a millisecond whenever it is looked at. */
function tickingClock(): Clock {
  let now = 0;
  return {
    now: () => now++,
    wall: () => 0,
    sleep: () => Promise.resolve(),
  };
}

const bombs: Readonly<Record<string, string>> = {
  'nested loops':
    'x{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}{% endfor %}{% endfor %}',
  'loops in expressions':
    'x {{ range(1000).map(a => range(1000).map(b => range(1000).map(c => 1).length).length).length }}',
  macros: 'x {{ m(30) }}',
  'walks over long lists':
    'x{% set l = range(1000000) %}{% for a in range(1000000) %}{% if l.includes(-1) %}y{% endif %}{% endfor %}',
  'long texts':
    'x{% set t = "abcdefgh".repeat(100000) %}{% for a in range(1000000) %}{% if t.includes("z") %}y{% endif %}{% endfor %}',
};
const main = (
  body: string,
) => `{% macro m(n) %}{% if n > 0 %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}y{% endmacro %}
{% section "t" %}\n${body}\n{% endsection %}`;

describe('bombs', () => {
  test.each(Object.entries(bombs))('%s run out of steps', async (_name, body) => {
    const problems = await problemsOf({ main: main(body) }, { steps: 300_000 });
    expect(problems).toEqual([
      expect.stringMatching(/^haproxyConfig:\d+:\d+ the render takes more than 300000 steps/),
    ]);
  });

  test.each(Object.entries(bombs))('%s meet the deadline', async (_name, body) => {
    const rendering = renderTemplates(
      { main: main(body) },
      { deadlineMs: 50, clock: tickingClock(), steps: 2 ** 40 },
    );
    const error = await rendering.then(
      () => undefined,
      (cause: unknown) => cause,
    );
    expect(error).toBeInstanceOf(RenderTimeout);
    expect((error as RenderTimeout).message).toMatch(
      /^haproxyConfig:\d+:\d+: the render took longer than 50 ms$/,
    );
  });
});

test.each([
  ['{{ "a".repeat(2000000) }}', 'longer than 1048576 characters'],
  ['{{ "a".padStart(2000000) }}', 'longer than 1048576 characters'],
  [
    '{% set t = "ab" %}{% for i in range(100) %}{% set t = t + t %}{% endfor %}',
    'longer than 1048576 characters',
  ],
  [
    '{% set t = "ab" %}{% for i in range(100) %}{% set t = `${t}${t}` %}{% endfor %}',
    'longer than 1048576 characters',
  ],
  [
    '{% set t = "ab" %}{% for i in range(100) %}{% set t = t.replaceAll("a", t) %}{% endfor %}',
    'longer than 1048576 characters',
  ],
  [
    '{% set t = ["ab"] %}{% for i in range(100) %}{% set t = [t.join("") + t.join("")] %}{% endfor %}',
    'longer than 1048576 characters',
  ],
  [
    '{% set l = [1] %}{% for i in range(100) %}{% set l = [...l, ...l] %}{% endfor %}',
    'longer than 1000000 items',
  ],
  [
    '{% set l = [1] %}{% for i in range(100) %}{% set l = l.concat(l) %}{% endfor %}',
    'longer than 1000000 items',
  ],
  [
    '{% set l = [1] %}{% for i in range(100) %}{% set l = l.flatMap(x => [x, x]) %}{% endfor %}',
    'longer than 1000000 items',
  ],
  ['{{ length(range(1e9)) }}', 'more than 1000000 numbers'],
])('%s is bounded', async (body, expected) => {
  expect((await problemsOf({ body: `x ${body}` })).join('\n')).toContain(expected);
});

test('output is bounded', async () => {
  const body = `{% set t = "a".repeat(1000000) -%}\nx{% for i in range(1000) %} {{ t }}{% endfor %}`;
  expect((await problemsOf({ body })).join('\n')).toContain(
    'the text becomes longer than 67108864 characters',
  );
});

test('a cancelled render is no verdict', async () => {
  const aborted = AbortSignal.abort(new Error('not wanted'));
  await expect(renderTemplates({ body: 'x' }, { signal: aborted })).rejects.toThrow(Cancelled);
});

test('a long render lets others run, and sees that it is cancelled', async () => {
  const controller = new AbortController();
  let turns = 0;
  const others = setInterval(() => {
    if (++turns === 3) controller.abort();
  });
  const body = 'x{% for a in range(1000000) %}{% for b in range(1000000) %}{% endfor %}{% endfor %}';
  const clock: Clock = { now: () => performance.now(), wall: () => 0, sleep: () => Promise.resolve() };
  const rendering = renderTemplates(
    { body },
    { signal: controller.signal, clock, steps: 2 ** 40, deadlineMs: 8_000 },
  );
  await expect(rendering).rejects.toThrow(Cancelled);
  clearInterval(others);
  expect(turns).toBe(3);
});

test('includes run out of steps', async () => {
  const count = 40;
  const twice = (i: number) => `{% include "s${i}" %}\n{% include "s${i}" %}\n`;
  const snippets = Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`s${i}`, i === count - 1 ? '' : twice(i + 1)]),
  );
  const problems = await problemsOf({ body: '{% include "s0" %}', snippets }, { steps: 100_000 });
  expect(problems).toEqual([expect.stringMatching(/^s\d+:\d+:\d+ the render takes more than 100000 steps$/)]);
});

test('includes in each other have a depth', async () => {
  const snippets = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, i) => [`s${i}`, i === 1_999 ? 'x' : `{% include "s${i + 1}" %}`]),
  );
  expect(await problemsOf({ body: '{% include "s0" %}', snippets })).toEqual([
    expect.stringContaining('macros and includes call each other more than 200 deep'),
  ]);
});

test('macros let others run', async () => {
  const controller = new AbortController();
  setImmediate(() => controller.abort());
  const rendering = renderTemplates(
    { main: main('x {{ m(18) }}') },
    { clock: tickingClock(), deadlineMs: 2 ** 40, signal: controller.signal },
  );
  await expect(rendering).rejects.toThrow(Cancelled);
});

describe('templates that are hard to read', () => {
  test.each([
    ['many branches', `{% if 0 %}\n${'{% elif 0 %}\n'.repeat(20_000)}{% endif %}`, 'at most 200 branches'],
    ['many words', `x ${'a(b) '.repeat(20_000)}`, 'HAProxy reads 64 words of a line'],
    ['many parentheses', `x {{ ${'('.repeat(20_000)}1${')'.repeat(20_000)} }}`, 'not enough stack'],
    ['many blocks', `${'{% if 1 %}'.repeat(5_000)}${'{% endif %}'.repeat(5_000)}`, 'not enough stack'],
    ['many operators', `x {{ ${'1 + '.repeat(20_000)}1 }}`, 'not enough stack'],
    ['many members', `x {{ data${'.a'.repeat(20_000)} }}`, 'not enough stack'],
    ['many negations', `x {{ ${'!'.repeat(20_000)}1 }}`, 'not enough stack'],
    ['many lists', `x {{ ${'['.repeat(20_000)}${']'.repeat(20_000)} | json }}`, 'not enough stack'],
    ['many brackets that are never closed', 'x {{ ( '.repeat(20_000), 'is never closed'],
    ['a number without end', 'x {{ 1e999 }}', 'larger than any that can be held'],
  ])('%s', async (_name, body, expected) => {
    expect((await problemsOf({ body, data: { a: 1 } })).join('\n')).toContain(expected);
  });

  test.each([
    ['many lines', { body: 'x a {{ "v" }} "b"\n'.repeat(20_000) }],
    ['one long line of YAML', { main: '', resources: { r: `kind: ${'word [ '.repeat(20_000)}` } }],
    ['one long comment', { body: `# ${'a(b) "'.repeat(20_000)}` }],
    ['one long word', { body: `x ${'a(b)%'.repeat(20_000)}` }],
    ['one long text', { main: '', files: { f: 'word {{ 1 }} '.repeat(20_000) } }],
  ])('%s take time in proportion', (_name, set) => {
    const start = performance.now();
    expect(() => compileTemplates(set)).not.toThrow();
    // Quadratic in the length would be minutes.
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
