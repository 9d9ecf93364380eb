import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sortPlugins } from './order.ts';

const plugin = (name: string, ...after: string[]) => ({ plugin: { name, after } });
const names = (list: readonly { plugin: { name: string } }[]) => list.map((entry) => entry.plugin.name);

describe('sortPlugins', () => {
  it.each([
    ['keeps the order given', [plugin('c'), plugin('a'), plugin('b')], ['c', 'a', 'b']],
    ['moves one behind what it waits for', [plugin('a', 'c'), plugin('b'), plugin('c')], ['c', 'a', 'b']],
    ['follows chains', [plugin('a', 'b'), plugin('b', 'c'), plugin('c')], ['c', 'b', 'a']],
    ['accepts what is in order already', [plugin('a'), plugin('b', 'a')], ['a', 'b']],
  ])('%s', (_, given, expected) => {
    expect(names(sortPlugins(given))).toEqual(expected);
  });

  it.each([
    [
      'two of a name',
      [plugin('a'), plugin('a')],
      'a: two plugins have this name; rename or disable one of them',
    ],
    [
      'an unknown name',
      [plugin('metrics'), plugin('a', 'metrcis')],
      'a: must be set up after "metrcis", which is not enabled, did you mean "metrics"? (enabled: metrics, a); ' +
        'enable it or correct `after`',
    ],
    ['itself', [plugin('a', 'a')], 'a: `after` goes in a circle: a → a; remove one of these'],
    [
      'a circle that others wait for',
      [plugin('x', 'a'), plugin('a', 'b'), plugin('b', 'c'), plugin('c', 'a')],
      'a: `after` goes in a circle: a → b → c → a; remove one of these',
    ],
  ])('refuses %s', (_, given, message) => {
    expect(() => sortPlugins(given)).toThrow(
      expect.objectContaining({ code: 'PLUGIN_ORDER', message }) as Error,
    );
  });

  it('puts everything behind what it waits for, and loses nothing', () => {
    const graph = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { maxLength: 12 }).chain((edges) =>
      fc.shuffledSubarray(
        edges.map((after, index) =>
          plugin(`p${index}`, ...after.filter(() => index > 0).map((n) => `p${n % index}`)),
        ),
        { minLength: edges.length },
      ),
    );
    fc.assert(
      fc.property(graph, (given) => {
        const sorted = names(sortPlugins(given));
        expect([...sorted].sort()).toEqual(names(given).sort());
        for (const { plugin } of given) {
          for (const first of plugin.after)
            expect(sorted.indexOf(first)).toBeLessThan(sorted.indexOf(plugin.name));
        }
      }),
    );
  });
});
