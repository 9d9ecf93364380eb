import { describe, expect, test } from 'vitest';
import { Cancelled, type Clock } from '../contract/index.ts';
import { problemsOf, renderTemplates } from '../testing/templates.ts';
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
