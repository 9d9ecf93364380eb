import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { TemplateGlobal } from '../../contract/index.ts';
import { problemsOf, renderTemplates, type TemplateSet } from '../../testing/templates.ts';
import { createNames, namesReference } from './registry.ts';

const names = () => createNames((text) => createHash('sha256').update(text).digest('hex'));

async function evaluate(expression: string, set: TemplateSet = {}): Promise<unknown> {
  const { files } = await renderTemplates({ main: '', ...set, files: { out: `{{ json(${expression}) }}` } });
  return JSON.parse(files[0]!.text) as unknown;
}

describe('helpers', () => {
  test.each([
    ['lower("AbC")', 'abc'],
    ['upper("AbC")', 'ABC'],
    ['trim(" a ")', 'a'],
    ['truncate("abc", 2)', 'ab'],
    ['lines("a\\r\\nb\\n")', ['a', 'b']],
    ['number("-1.5") + number(2)', 0.5],
    ['text(5) + text(true) + text("x")', '5truex'],
    ['regex("a.b/c d")', 'a\\.b\\/c\\ d'],
    ['json({a: [1, "x"]})', '{"a":[1,"x"]}'],
    ['yaml({a: [1, "x"]})', '{ a: [ 1, "x" ] }'],
    ['length("abc") + length([1]) + length({a: 1, b: 2})', 6],
    ['keys({b: 1, a: 2})', ['a', 'b']],
    ['values({b: 1, a: 2})', [2, 1]],
    ['sortBy([{n: 2}, {n: 1}], x => x.n)', [{ n: 1 }, { n: 2 }]],
    [
      'groupBy(["a1", "b1", "a2"], x => x.at(0))',
      [
        { key: 'a', items: ['a1', 'a2'] },
        { key: 'b', items: ['b1'] },
      ],
    ],
    ['unique([1, 2, 1])', [1, 2]],
    ['unique(["a1", "a2"], x => x.at(0))', ['a1']],
    ['range(3)', [0, 1, 2]],
    ['range(1, 3)', [1, 2]],
    ['range(-1)', []],
    ['join(["a", "b"], "-")', 'a-b'],
    ['b64decode(b64encode("aé漢"))', 'aé漢'],
    ['sha256("")', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['sha256("", 8)', 'e3b0c442'],
    ['seconds("2024-05-01T12:00:00Z")', 1_714_564_800],
    ['date(1714564800)', '2024-05-01T12:00:00Z'],
    ['compareVersions("3.10", "3.9.1")', 1],
    ['compareVersions("3.2-dev1", "3.2.0")', 0],
    ['isVersion("3.4.7", "3.4")', true],
    ['isVersion("3.2.26", "3.4")', false],
    ['isIp("10.0.0.1") && isIp("::1") && isIp("fe80::1:2") && isIp("::ffff:1.2.3.4")', true],
    ['isIp("10.0.0") || isIp("1::2::3") || isIp("01.2.3.4") || isIp("1.2.3.256") || isIp("")', false],
    ['isCidr("10.0.0.0/8") && isCidr("2001:db8::/32")', true],
    ['isCidr("10.0.0.0/33") || isCidr("10.0.0.0") || isCidr("::/129")', false],
    ['[ipFamily("10.0.0.0/8"), ipFamily("::1")]', [4, 6]],
    ['inCidr("10.1.2.3", "10.0.0.0/8")', true],
    ['inCidr("10.1.2.3", ["192.168.0.0/16", "10.1.2.3"])', true],
    ['inCidr("10.0.0.0/7", "10.0.0.0/8") || inCidr("::1", "0.0.0.0/0")', false],
  ])('%s', async (expression, expected) => {
    expect(await evaluate(expression)).toEqual(expected);
  });

  test.each([
    ['lower(5)', 'expected a text, not number'],
    ['b64decode("%")', 'not base64 of a UTF-8 text'],
    ['seconds("yesterday")', 'expected a date'],
    ['compareVersions("x", "1")', 'is no version'],
    ['inCidr("x", "10.0.0.0/8")', 'is no IP address or CIDR'],
    ['sortBy([1], x => null)', 'must yield a text or a number'],
    ['sortBy([1], 5)', 'expected a function: item => …'],
    ['keys([])', 'expected an object, not a list'],
  ])('%s', async (expression, expected) => {
    expect((await problemsOf({ main: '', files: { f: `{{ ${expression} }}` } })).join('\n')).toContain(
      expected,
    );
  });
});

describe('globals', () => {
  test('resources are the watched objects', async () => {
    const thing = (name: string) => ({
      apiVersion: 'v1',
      kind: 'Thing',
      metadata: { namespace: 'ns', name },
    });
    const fixtures = { things: [thing('b'), thing('a')] };
    expect(await evaluate('resources.things.list().map(t => t.metadata.name)', { fixtures })).toEqual([
      'a',
      'b',
    ]);
    expect(await evaluate('resources.things.get("ns", "b").metadata.name', { fixtures })).toBe('b');
    expect(await evaluate('resources.things.get("ns", "x")?.metadata.name ?? "none"', { fixtures })).toBe(
      'none',
    );
    expect(await evaluate('resources.things.served', { fixtures })).toBe(true);
    const found = async (expression: string) =>
      (await problemsOf({ main: '', fixtures, files: { f: `{{ ${expression} }}` } })).join('\n');
    expect(await found('resources.thngs.list()')).toContain(
      '"resources" has no member "thngs", did you mean "things"?',
    );
    expect(await found('resources.things.lst()')).toContain(
      'has no member "lst", did you mean "list"?; it has served, list, get, by',
    );
    expect(await found('resources.things.by("x", "y")')).toContain(
      'watch "things" has no index "x"; it has none',
    );
    expect(await found('resources.things.by("x" + "y", "z")')).toContain('" failed: watch "things" has no');
    expect(await found('resources.things.list')).toContain('"list" is a function');
    expect(await found('resources.things.list().nope.x')).toContain('is undefined');
  });

  test('haproxy says what the fleet can do', async () => {
    const supports = 'haproxy.supports.runtimeBackends';
    expect(await evaluate(supports, { haproxyVersion: '3.4.0' })).toBe(true);
    expect(await evaluate(supports, { haproxyVersion: '3.2.26' })).toBe(false);
    expect(await evaluate('[haproxy.version, haproxy.paths.workerSocket]')).toEqual([
      '3.4.1',
      '/run/haproxy/worker.sock',
    ]);
    const found = await problemsOf({
      main: '',
      files: { f: '{{ haproxy.supports.runtimBackends }}{{ haproxy.path.base }}' },
    });
    expect(found.join('\n')).toContain('did you mean "runtimeBackends"?');
    expect(found.join('\n')).toContain('"haproxy" has no member "path", did you mean "paths"?');
  });

  test("a plugin's global is built once a render, when it is first read", async () => {
    let built = 0;
    const global: TemplateGlobal = {
      name: 'model',
      doc: 'A model.',
      members: [
        { name: 'items', doc: 'its items' },
        { name: 'find', doc: 'find(name) → item' },
      ],
      build: ({ settings }) => {
        built++;
        return Object.freeze({ items: [settings['x']], find: (name: string) => `found ${name}` });
      },
    };
    const set = { globals: [global], settings: { x: 'y' } };
    expect(await evaluate('1', set)).toBe(1);
    expect(built).toBe(0);
    expect(await evaluate('[model.items, model.items, model.find("z")]', set)).toEqual([
      ['y'],
      ['y'],
      'found z',
    ]);
    expect(built).toBe(1);
    const found = await problemsOf({ ...set, main: '', files: { f: '{{ model.itmes }}' } });
    expect(found.join('\n')).toContain(
      '"model" has no member "itmes", did you mean "items"?; it has items, find',
    );
  });
});

test('two of one name are refused', () => {
  const registry = names();
  const global = { name: 'mine', doc: '', members: [], build: () => ({}) };
  registry.global(global);
  expect(() => registry.global(global)).toThrow('templates already have a name "mine"');
  expect(() => registry.global({ ...global, name: 'upper' })).toThrow('already have a name "upper"');
  expect(() => registry.global({ ...global, name: 'a b' })).toThrow('no name that a template could write');
});

test('every name is documented', () => {
  const reference = namesReference(names());
  const listed = reference.map(({ name }) => name);
  expect(listed).toEqual(listed.toSorted());
  for (const { name, signature, doc, kind } of reference) {
    expect(doc, name).toMatch(/\w{3}.*\.$/);
    if (kind === 'helper') expect(signature, name).toMatch(new RegExp(`^${name}\\(.*\\)`));
  }
});
