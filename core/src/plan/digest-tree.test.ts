import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { sha256 } from '../controller/sha256.ts';
import { DigestTree } from './digest-tree.ts';

interface Item {
  readonly name: string;
  readonly digest: string;
}

function tree(): DigestTree<Item> {
  return new DigestTree(sha256, ({ name, digest }) => `${name} ${digest}`);
}

function item(name: string): Item {
  return { name, digest: sha256(name) };
}

it('says the same of equal lists, whatever they were before, and never of others', () => {
  const names = fc.array(fc.nat(400).map(String), { maxLength: 300, size: 'max' });
  const edit = fc.record({
    at: fc.nat(300),
    remove: fc.nat(5),
    insert: fc.array(fc.nat(400).map(String), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(names, fc.array(edit, { maxLength: 10 }), (first, edits) => {
      const warm = tree();
      const digests = new Map<string, string>();
      let list = first;
      for (const { at, remove, insert } of [{ at: 0, remove: 0, insert: [] }, ...edits]) {
        list = list.toSpliced(at, remove, ...insert);
        const digest = warm.digest(list.map(item));
        expect(tree().digest(list.map(item))).toBe(digest);
        const text = list.join();
        expect(digests.get(digest) ?? text).toBe(text);
        digests.set(digest, text);
      }
    }),
    { examples: [[['0', '133', '1'], [{ at: 0, remove: 2, insert: [] }]]] },
  );
});

it('hashes little for a small change of a long list', () => {
  let hashed = 0;
  const counting = new DigestTree<Item>(
    (text) => {
      hashed += text.length;
      return sha256(text);
    },
    ({ digest }) => digest,
  );
  const items = Array.from({ length: 10_000 }, (_, index) => item(`${index}`));
  counting.digest(items);
  const all = hashed;
  hashed = 0;
  counting.digest(items.with(5_000, item('other')));
  expect(hashed).toBeLessThan(all / 20);
});
