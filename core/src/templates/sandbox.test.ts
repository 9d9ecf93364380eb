import { afterEach, describe, expect, test } from 'vitest';
import { Refused } from '../contract/index.ts';
import { renderTemplates } from '../testing/templates.ts';

/**
 * A representative of every class of attack. Each is refused, or renders without having done anything: no code ran, no
 * prototype changed, the data is as it was.
 */
const attacks: Readonly<Record<string, readonly string[]>> = {
  'constructor chains': [
    '{{ data.s.constructor }}',
    "{{ data.s['constructor'] }}",
    "{{ data.s['con' + 'structor'] | json }}",
    '{{ data.s[`constructor`] }}',
    '{{ data.s.\\u0063onstructor }}',
    "{{ data.s[['constructor']] }}",
    '{{ data.s[data.evil] }}',
    '{{ data.s[data.evil][data.evil]("globalThis.pwned = 1")() }}',
    '{{ upper.constructor }}',
    '{{ data.list.map.constructor }}',
    '{{ data.list[data.evil]("globalThis.pwned = 1") }}',
    '{{ data.o.constructor.constructor("globalThis.pwned = 1")() }}',
    '{{ (5)[data.evil] }}',
  ],
  prototypes: [
    '{{ data.o.__proto__ }}',
    "{{ data.o['__proto__'] }}",
    "{{ data.o['__pro' + 'to__'] | json }}",
    '{{ {__proto__: data.o} }}',
    '{{ {"__proto__": data.o} }}',
    '{{ {["__proto__"]: {polluted: 1}} | json }}',
    '{{ {...data.proto} | json }}',
    '{{ data.proto.polluted }}',
    '{% set o = {...data.proto} %}{{ o.polluted }}',
    '{{ data.o.hasOwnProperty("a") }}',
    '{{ data.o.__defineGetter__("a", x => x) }}',
  ],
  'functions and syntax': [
    '{{ {get a() { return 1 }} }}',
    '{{ {a() { return 1 }} }}',
    '{{ data.list.map(({length}) => length) }}',
    '{{ data.list.map((a = globalThis) => a) }}',
    '{{ data.list.map((...a) => a) }}',
    '{{ (() => 1)() }}',
    '{{ (x => x(x))(x => x(x)) }}',
    '{{ data.list.map(async x => x) }}',
    '{{ data.list.map(x => { return x }) }}',
    '{{ upper`a` }}',
    '{{ this }}',
    '{{ new Function("return 1")() }}',
    '{{ super.x }}',
    '{{ import("node:fs") }}',
    '{{ import.meta.url }}',
    '{{ await 1 }}',
    '{{ yield 1 }}',
    '{{ class {} }}',
    '{{ delete data.o.a }}',
    '{{ new.target }}',
    '{{ data instanceof Object }}',
    '{{ data.#x }}',
    '{{ #x in data }}',
    '{{ data.o.a = 2 }}',
    '{{ data.o.a++ }}',
    '{{ [data.o.a] = [2] }}',
    '{{ ++data.n }}',
    '{{ data.n ||= 5 }}',
    '{{ void 0 }}',
    '{{ 1, 2 }}',
    '{{ 10n ** 10n }}',
    '{{ /x/ }}',
    '{{ /(a+)+$/.test("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") }}',
  ],
  'names of the engine': [
    '{{ eval("1") }}',
    '{{ arguments }}',
    '{{ globalThis }}',
    '{{ process.env }}',
    '{{ require("fs") }}',
    '{{ Function("1") }}',
    '{{ Symbol.iterator }}',
    '{{ Object.keys(data) }}',
    '{{ JSON.stringify(data) }}',
    '{{ rt }}',
    '{{ rt.steps }}',
    '{{ K[0] }}',
    '{{ o }}',
    '{{ get(data, "x", 0) }}',
    '{{ v0 }}',
    '{{ t0 }}',
    '{{ u0(1) }}',
    '{% set rt = 1 %}{% set K = 2 %}{% set o = 3 %}{{ rt + K + o }}',
    '{% set v0 = 1 %}{% set __proto__ = 2 %}{{ v0 + __proto__ }}',
    '{% for constructor in [1] %}{{ constructor }}{% endfor %}',
    '{% macro f(yield) %}{% endmacro %}',
  ],
  methods: [
    '{{ data.list.map.call(data.list, x => x) }}',
    '{{ data.list.map.bind(1) }}',
    '{{ upper.apply(1, ["a"]) }}',
    '{% set m = data.list.map %}{{ m(x => x) }}',
    '{{ data.list.map(x => x, data) | json }}',
    '{{ data.list.map((x, i, whole) => whole) | json }}',
    '{{ data.list.push(1) }}',
    '{{ data.list.sort() }}',
    '{{ data.list.splice(0) }}',
    '{{ data.list.reverse() }}',
    '{{ data.list.fill(0) }}',
    '{{ data.list.copyWithin(0, 1) }}',
    "{{ data.s.replace('e', (m) => m) }}",
    "{{ data.s.replace('e', '$`$&') }}",
    '{{ data.s.replace(data.o, "x") }}',
    '{{ data.s.match("e") }}',
    '{{ data.s.matchAll("e") }}',
    '{{ data.s.normalize() }}',
    '{{ data.o.toString() }}',
    '{{ data.o.valueOf() }}',
    '{{ `${data.o}` }}',
    '{{ "" + data.o }}',
    '{{ [data.o].join() }}',
    '{{ data.host() }}',
    '{{ data.host }}',
    '{{ data.host.constructor }}',
  ],
  'functions as values': [
    '{{ [1].reduce((a, b) => a, x => x) | json }}',
    '{{ [1].map(y => [1].reduce((a, b) => a, x => x)).length }}',
    '{{ [].concat(x => x).map(f => [f].map(f)).length }}',
    '{{ [1].includes(x => x) }}',
    '{{ [1].toSorted((a, b) => a, x => x) | json }}',
    '{{ m(f => [f].map(f)) }}',
    '{{ m(x => x) }}',
    '{{ matches(x => x, "a") }}',
    '{{ path("file", x => x) }}',
    '{{ data.host(x => x) }}',
    '{{ "a".at(x => 1) }}',
    '{{ length(x => x) }}',
    '{{ json(x => x) }}',
    '{{ json([1].map(x => json)) }}',
    '{{ typeof (x => x) }}',
    '{{ [x => x] }}',
    '{{ {a: x => x} | json }}',
    '{% set f = x => x %}',
    '{% if x => x %}{% endif %}',
    '{% for f in [x => x] %}{% endfor %}',
    '{% include "s" with {f: x => x} %}',
  ],
  'break-outs': [
    '{{ "\\"); globalThis.pwned = 1; (\\"" }}',
    "{{ '`); globalThis.pwned = 1; (`' }}",
    '{{ `\\`); globalThis.pwned = 1;` }}',
    '"); globalThis.pwned = 1; ("',
    '`${globalThis.pwned = 1}`',
    '\\u2028globalThis.pwned = 1',
    '\u2028globalThis.pwned = 1',
    '<!-- globalThis.pwned = 1',
    '{{ 1 }} --> globalThis.pwned = 1',
    '{{ 1 /* */ }}',
    '{{ 1 // }}',
    '{{ 1; globalThis.pwned = 1 }}',
    '{{ 1) ; globalThis.pwned = 1; (1 }}',
    '{{ 1 } globalThis.pwned = 1; { 1 }}',
    '{% if 1) { globalThis.pwned = 1 } if (1 %}{% endif %}',
    '{% for x in [] ) { globalThis.pwned = 1 } for (x of [] %}{% endfor %}',
    '{% set x = 1; globalThis.pwned = 1 %}',
    '{% macro f(a = (globalThis.pwned = 1)) %}{% endmacro %}',
    '{% include "x\\"); globalThis.pwned = 1; (\\"" %}',
    '{{ {"a\\": globalThis.pwned = 1, \\"b": 1} | json }}',
    '{{ data["a\\"]; globalThis.pwned = 1; //"] | json }}',
    '{{ -0 | json }}{{ 1e999 }}',
  ],
};

function makeData() {
  return {
    s: 'text',
    n: 1,
    list: [1, 2],
    o: { a: 1 },
    evil: 'constructor',
    proto: JSON.parse('{"__proto__": {"polluted": 1}}') as object,
    host: () => 1,
  };
}

const world = globalThis as { pwned?: unknown };

afterEach(() => {
  delete world.pwned;
});

describe.each(Object.entries(attacks))('%s', (_name, bodies) => {
  test.each(bodies)('%s', async (attack) => {
    const data = makeData();
    const before = JSON.stringify(data);
    for (const body of [`x ${attack}`, `{% if 1 %}\nx ${attack}\n{% endif %}`]) {
      try {
        const main = `{% macro m(f) %}{{ [f].map(f) | json }}{% endmacro %}
{% section "t" %}\n${body}\n{% endsection %}`;
        await renderTemplates({ main, data, snippets: { s: '' } });
      } catch (error) {
        expect(error).toBeInstanceOf(Refused);
        expect((error as Refused).problems.every(({ where }) => where !== '')).toBe(true);
      }
    }
    expect(world.pwned).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(JSON.stringify(data)).toBe(before);
  });
});

test('a member of data that is named like an inherited one is data', async () => {
  const { files } = await renderTemplates({
    main: '',
    data: { labels: JSON.parse('{"constructor": "c", "__proto__": "p"}') as object },
    files: { f: '{% for k, v in data.labels %}{{ k }}={{ v }}={{ data.labels[k] }};{% endfor %}' },
  });
  expect(files[0]!.text).toBe('__proto__=p=p;constructor=c=c;');
});
