import { describe, expect, it } from 'vitest';
import type { MapContent } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { provenanceOf } from '../testing/render-output.ts';
import type { EntryDeclaration } from '../templates/output.ts';
import { buildMaps, type BuiltMap } from './map-file.ts';
import { PlanMemo } from './memo.ts';
import { Problems } from './problems.ts';

function content(overrides: Partial<MapContent> = {}): MapContent {
  const origin = { kind: 'library', source: 'base' } as const;
  return { match: 'str', value: 'str', layer: 'host', secret: false, requires: [], origin, ...overrides };
}

function entry(key: string, value = 'v', object = key): EntryDeclaration {
  return { map: 'm', key, value, provenance: provenanceOf(object) };
}

function build(entries: readonly EntryDeclaration[], map = content(), memo = new PlanMemo(sha256)): BuiltMap {
  const problems = new Problems();
  const built = buildMaps({ m: map }, entries, memo, problems);
  problems.refuse();
  return built.get('m')!;
}

describe('order', () => {
  it.each(['str', 'beg', 'ip'] as const)('of %s entries is by key', (match) => {
    const keys = match === 'ip' ? ['10.0.0.2', '10.0.0.1'] : ['b', 'a'];
    const built = build(
      keys.map((key) => entry(key)),
      content({ match }),
    );
    expect(built.file.entries.map(([key]) => key)).toEqual(keys.toReversed());
  });

  it.each(['reg', 'sub', 'end', 'dom', 'dir'] as const)('of %s entries is that of declaration', (match) => {
    const built = build([entry('b'), entry('a')], content({ match }));
    expect(built.text).toBe('b v\na v\n');
  });
});

it('writes an empty file for a map without entries', () => {
  expect(build([])).toMatchObject({ text: '', length: 0, file: { entries: [] } });
});

describe('refusals', () => {
  it.each([
    ['', 'v', {}, 'the key is empty'],
    ['a b', 'v', {}, 'the key holds a blank'],
    ['a\tb', 'v', {}, 'the key holds a blank'],
    ['a\x7f', 'v', {}, 'the key holds a blank'],
    ['#a', 'v', {}, 'the key begins with "#"'],
    ['a', '', {}, 'the value is empty'],
    ['a', 'x\ninjected y', {}, 'the value holds a control character'],
    ['a', ' x', {}, 'the value begins or ends with a blank'],
    ['a', 'x ', {}, 'the value begins or ends with a blank'],
    ['a', '\ud800', {}, 'half a surrogate pair'],
    ['a', 'x'.repeat(16_000), {}, 'longer than 16000 bytes'],
    ['a', '€'.repeat(5_400), {}, 'longer than 16000 bytes'],
    ['a', '1.5', { value: 'int' }, 'is no integer'],
    ['a', 'host', { value: 'ip' }, 'is no IP address'],
    ['10.0.0.0/33', 'v', { match: 'ip' }, 'the key is no IP address or network'],
    ['1.2.3', 'v', { match: 'ip' }, 'the key is no IP address or network'],
    ['::1::2', 'v', { match: 'ip' }, 'the key is no IP address or network'],
  ] as const)('of %j → %j', (key, value, overrides, reason) => {
    expect(() => build([entry(key, value, 'obj')], content(overrides))).toThrow(reason);
    expect(() => build([entry(key, value, 'obj')], content(overrides))).toThrow(
      '[Ingress default/obj (main:1)]',
    );
  });

  it.each([
    ['a', '#v', {}],
    ['a', 'b c d', {}],
    ['a', '€'.repeat(5_300), {}],
    ['a', '-12', { value: 'int' }],
    ['a', '::ffff:1.2.3.4', { value: 'ip' }],
    ['2001:db8::/32', 'v', { match: 'ip' }],
    ['10.0.0.0/8', 'v', { match: 'ip' }],
  ] as const)('are none for %j → %j', (key, value, overrides) => {
    expect(build([entry(key, value)], content(overrides)).text).toBe(`${key} ${value}\n`);
  });

  it('name both objects of a key that is there twice', () => {
    expect(() => build([entry('a', 'v', 'one'), entry('b'), entry('a', 'v', 'two')])).toThrow(
      'main:1: key "a" of map "m" is declared twice: by Ingress default/one (main:1) and by Ingress default/two (main:1)',
    );
  });

  it('do not show keys of a secret map', () => {
    expect(() => build([entry('hunter2', '')], content({ secret: true }))).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('"hunter2"') }),
    );
  });

  it('of an unknown map name the nearest one', () => {
    const declared = { ...entry('a'), map: 'n' };
    expect(() => build([declared])).toThrow('no map is named "n", did you mean "m"?');
  });
});

describe('an unchanged map', () => {
  it('is the identical object, also when its entries were declared anew', () => {
    const memo = new PlanMemo(sha256);
    const map = content();
    const provenance = provenanceOf('x');
    const declare = (): EntryDeclaration[] =>
      ['a', 'b'].map((key) => ({ map: 'm', key, value: 'v', provenance }));
    expect(build(declare(), map, memo)).toBe(build(declare(), map, memo));
  });

  it('is refused again when it was refused before', () => {
    const memo = new PlanMemo(sha256);
    const bad = [entry('a b')];
    expect(() => build(bad, content(), memo)).toThrow(/blank/);
    expect(() => build(bad, content(), memo)).toThrow(/blank/);
  });
});
