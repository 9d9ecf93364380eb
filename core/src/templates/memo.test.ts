import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FleetFacts, KubeObject } from '../contract/index.ts';
import { fixtureView } from '../store/index.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { compileTemplates, problemsOf, templateConfig, type TemplateSet } from '../testing/templates.ts';
import type { RenderOutput } from './output.ts';

const fleet: FleetFacts = { haproxyVersion: '3.4.1', paths: { base: '/etc', workerSocket: '/run/w' } };

/** Renders again and again with one compiled program. */
function renderer(set: TemplateSet): (changed?: Partial<FleetFacts>) => Promise<RenderOutput> {
  const program = compileTemplates(set);
  const config = templateConfig(set);
  return async (changed = {}) =>
    await program.render(
      { config, view: fixtureView({}, {}), fleet: { ...fleet, ...changed } },
      { signal: new AbortController().signal, deadlineMs: 10_000, clock: fakeClock() },
    );
}

interface Route {
  readonly name: string;
  readonly path: string;
  readonly object: KubeObject;
}

function route(name: string, path = `/${name}`): Route {
  const object = { apiVersion: 'v1', kind: 'Route', metadata: { namespace: 'ns', name } };
  return Object.freeze({ name, path, object });
}

const main = `{% for r in data.routes %}
{% memo r %}
{% backend {name: r.name, from: "base", objects: r.object} %}
    http-request set-path {{ data_helper(r.path) }}
{% include "part" with {r} %}
{% endbackend %}
{% entry "hosts", r.name, r.path %}
{% do warn(r.object, "Seen", r.name) %}
{% endmemo %}
{% endfor %}`;

function counted(routes: Route[]) {
  const calls: unknown[] = [];
  const helper = {
    name: 'data_helper',
    signature: 'data_helper(x)',
    doc: '',
    minArgs: 1,
    maxArgs: 1,
    call: (x: unknown) => calls.push(x) && x,
  };
  const data = { routes };
  const set = {
    main,
    data,
    helpers: [helper],
    maps: { hosts: {} },
    snippets: { part: '    http-request set-header X {{ r.name }} if { path {{ settings.s }} }\n' },
    settings: { s: 'set' },
  };
  return { calls, data, render: renderer(set) };
}

describe('what is re-used', () => {
  test('text and declarations of unchanged keys, as the identical objects', async () => {
    const { calls, data, render } = counted([route('a'), route('b'), route('c')]);
    const first = await render();
    expect(calls).toEqual(['/a', '/b', '/c']);
    data.routes = [data.routes[0]!, route('b', '/new'), data.routes[2]!];
    const second = await render();
    expect(calls.slice(3)).toEqual(['/new']);
    expect(second.pieces.map((piece, i) => piece === first.pieces[i])).toEqual([true, false, true]);
    expect(second.entries.map(({ value }) => value)).toEqual(['/a', '/new', '/c']);
    expect(second.events).toHaveLength(3);
    expect(second.pieces[2]).toMatchObject({ provenance: { objects: [{ name: 'c' }] } });
  });

  test('nothing that the latest render had no use for', async () => {
    const { calls, data, render } = counted([route('a')]);
    const { routes } = data;
    await render();
    data.routes = [];
    await render();
    data.routes = routes;
    await render();
    expect(calls).toEqual(['/a', '/a']);
  });

  test('nothing from a render that failed, and what was there before it stays', async () => {
    const { calls, data, render } = counted([route('a')]);
    await render();
    data.routes = [data.routes[0]!, route('b', '\n')];
    await expect(render()).rejects.toThrow('control character');
    data.routes = [data.routes[0]!];
    await render();
    expect(calls).toEqual(['/a', '\n']);
  });

  test('nothing for another fleet', async () => {
    const { calls, render } = counted([route('a')]);
    await render();
    await render({ haproxyVersion: '3.2.0' });
    await render({ haproxyVersion: '3.2.0', paths: { base: '/other', workerSocket: '/run/w' } });
    expect(calls).toHaveLength(3);
  });

  test('keys are compared like Object.is', async () => {
    const data = { keys: [0, -0, '0', Number.NaN, undefined, null, false] as unknown[] };
    const set = { data, main: '', body: '' };
    const render = renderer({
      ...set,
      main: '{% for k in data.keys %}{% memo k %}{% section "s" %}\nx {{ typeof k }}\n{% endsection %}{% endmemo %}{% endfor %}',
    });
    const first = await render();
    const second = await render();
    expect(second.pieces).toEqual(first.pieces);
    expect(second.pieces.every((piece, i) => piece === first.pieces[i])).toBe(true);
    expect(new Set(first.pieces).size).toBe(7);
  });

  test('the same steps are used up', async () => {
    const set = {
      main: '{% for k in data.keys %}{% memo k %}{% for i in range(1000) %}{% endfor %}{% endmemo %}{% endfor %}',
      data: { keys: [1, 2, 3] },
    };
    const program = compileTemplates(set);
    const input = { config: templateConfig(set), view: fixtureView({}, {}), fleet };
    const options = { signal: new AbortController().signal, deadlineMs: 10_000, clock: fakeClock() };
    await program.render(input, options);
    await expect(program.render(input, { ...options, steps: 5_000 })).rejects.toThrow('more than 5000 steps');
  });

  test('text within a section, by the objects of that section', async () => {
    const objects = [route('a').object, route('b').object];
    const set = {
      data: { objects, keys: ['k'] },
      maps: { hosts: {} },
      main: `{% for o in data.objects %}{% section "s" + o.metadata.name, o %}
frontend f
{% for k in data.keys %}
    {% memo k %}
    description {{ k }}
{% entry "hosts", "key", k %}
    {% endmemo %}
{% endfor %}
{% endsection %}{% endfor %}`,
    };
    const render = renderer(set);
    for (const { pieces, entries } of [await render(), await render()]) {
      expect(pieces).toMatchObject([{ text: 'frontend f\n    description k\n' }, {}]);
      expect(entries.map(({ provenance }) => provenance.objects[0]?.name)).toEqual(['a', 'b']);
    }
  });
});

describe('what is refused', () => {
  const snippets = {
    reads: '{% section "x" %}\nx {{ data.x }}\n{% endsection %}',
    deep: '{% include "reads" %}',
    lib: '{% macro m(a) %}{{ a }}{{ data.x }}{% endmacro %}',
    constants:
      '{% section "x" %}\nx {{ settings.s }} {{ haproxy.version }} {{ path("map", "m") }}\n{% endsection %}',
  };
  const set = { snippets, data: { x: 1, list: [1] }, settings: { s: 1 } };
  const section = (text: string) => `{% section "s" %}\n${text}\n{% endsection %}`;
  test.each([
    [
      `{% set a = 1 %}{% set b = 2 %}{% memo a %}${section('x {{ a }} {{ b }}')}{% endmemo %}`,
      'reads "b", which is no key of it: write {% memo a, b %}',
    ],
    [
      `{% set a = 1 %}{% memo a %}${section('x {{ data.x }}')}{% endmemo %}`,
      'reads "data" (haproxyConfig:2:6), which is neither a key nor a constant',
    ],
    [
      '{% set a = 1 %}{% memo a %}{% include "deep" %}{% endmemo %}',
      'reads "data" (reads:2:6), which is neither',
    ],
    [
      `{% import "lib" %}{% set a = 1 %}{% memo a %}${section('x {{ m(a) }}')}{% endmemo %}`,
      'reads "data" (lib:1:',
    ],
    [
      `{% for i in [1] %}{% memo i %}${section('x {{ loop.index }}')}{% endmemo %}{% endfor %}`,
      'reads "loop", which is no key of it: set a variable',
    ],
    [
      `{% set a = 1 %}{% set b = 1 %}{% memo a %}{% set b = 2 %}{% endmemo %}`,
      '"b" stands outside of the memo',
    ],
    [
      '{% for i in [1] %}{% memo i %}{% break %}{% endmemo %}{% endfor %}',
      'leaves no section, backend, memo',
    ],
    ['{% for i in [1] %}{% memo loop %}{% endmemo %}{% endfor %}', '"loop" is no value'],
    ['{% memo %}{% endmemo %}', 'expected the name of a variable'],
    ['{% memo nope %}{% endmemo %}', 'there is no variable "nope"'],
    [section('x {% memo data %}y{% endmemo %}'), '{% memo %} stands alone on its line'],
    [section('x "\n{% memo data %}\n{{ data.x }}"\n{% endmemo %}'), 'ends inside double quotes'],
  ])('%s', async (main_, expected) => {
    expect((await problemsOf({ ...set, main: main_ })).join('\n')).toContain(expected);
  });

  test.each([
    '{% set a = 1 %}{% memo a %}{% include "constants" %}{% endmemo %}',
    `{% memo data %}${section('x {{ data.x }}')}{% endmemo %}`,
    '{% memo data %}{% include "deep" %}{% endmemo %}',
    `{% set a = 1 %}{% memo a %}{% set b = a %}{% set b = 2 %}${section('x {{ b }}{% for a in [1] %}{{ loop.index }}{% endfor %}')}{% endmemo %}`,
  ])('%s is fine', async (main_) => {
    expect(await problemsOf({ ...set, main: main_ })).toEqual([]);
  });
});

test('a render with memos is the render without them, whatever changes', async () => {
  const names = fc.constantFrom('a', 'b', 'c', 'd');
  const steps = fc.array(fc.array(fc.record({ name: names, version: fc.nat(2) }), { maxLength: 6 }), {
    minLength: 1,
    maxLength: 6,
  });
  const known = new Map<string, Route>();
  const routeOf = ({ name, version }: { name: string; version: number }): Route => {
    const id = `${name}${version}`;
    if (!known.has(id)) known.set(id, route(name, `/${id}`));
    return known.get(id)!;
  };
  await fc.assert(
    fc.asyncProperty(steps, async (renders) => {
      const { data, render } = counted([]);
      for (const list of renders) {
        data.routes = list.map(routeOf);
        expect(await render()).toEqual(await counted(data.routes).render());
      }
    }),
    { numRuns: 50 },
  );
});
