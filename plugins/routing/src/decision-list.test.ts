import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { decisionList, type DecisionList } from './decision-list.ts';

/** Reads a list the way the router does. */
function rulesOf({ id, entries }: DecisionList): readonly string[] {
  const texts = new Map(entries.map(({ key, value }) => [key, value]));
  const read = (list: string): readonly string[] =>
    (texts.get(list) ?? '')
      .split(',')
      .flatMap((rule) => (rule.startsWith('@') ? read(rule.slice(1)) : [rule]));
  return read(id);
}

test('a short list is one entry under the name of its content', () => {
  const list = decisionList(['m=GET>a', '>b'], []);
  expect(list.entries).toEqual([{ key: list.id, value: 'm=GET>a,>b', objects: [] }]);
  expect(decisionList(['m=GET>a', '>b'], []).id).toBe(list.id);
  expect(decisionList(['>b', 'm=GET>a'], []).id).not.toBe(list.id);
});

test('a long list is split into parts that fit a map line, in order', () => {
  const rule = fc.integer({ min: 1, max: 8000 }).map((length) => `>${'x'.repeat(length)}`);
  fc.assert(
    fc.property(fc.array(rule, { minLength: 1, maxLength: 60 }), (drafts) => {
      const rules = drafts.map((text, index) => `${text}${index}`);
      const list = decisionList(rules, []);
      expect(rulesOf(list)).toEqual(rules);
      for (const { key, value } of list.entries) expect(key.length + value.length).toBeLessThan(15_900);
    }),
    { numRuns: 30 },
  );
});
