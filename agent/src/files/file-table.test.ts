import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileSetDigest, sumOf, type FileFacts } from '../protocol/index.ts';
import { FileTable } from './file-table.ts';

const file = (path: string, digest: string): FileFacts => ({
  path,
  digest,
  size: 1,
  kind: 'file',
  reloadOnChange: true,
});
const paths = fc.constantFrom(...Array.from({ length: 100 }, (_, index) => `p${index}`));
const change = fc.record({
  files: fc.uniqueArray(fc.tuple(paths, fc.constantFrom('1', '2', '3')), { selector: ([path]) => path }),
  removed: fc.uniqueArray(paths),
});

test('a table that was made by changes is the same as one of all its files, and the former one stays', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
      let table = FileTable.of([]);
      const model = new Map<string, FileFacts>();
      for (const { files, removed } of changes) {
        const before = [...table];
        const fresh = files.map(([path, digest]) => file(path, digest));
        const gone = removed.filter((path) => fresh.every((entry) => entry.path !== path));
        const next = table.with(fresh, gone);
        for (const path of gone) model.delete(path);
        for (const entry of fresh) model.set(entry.path, entry);
        expect([...table]).toEqual(before);
        const rebuilt = FileTable.of(model.values());
        expect(next.differences(rebuilt)).toEqual([]);
        expect(next.size).toBe(model.size);
        expect(next.digest).toBe(fileSetDigest(sumOf(model.values())));
        for (const path of table.differences(next))
          expect(next.get(path)?.digest).not.toBe(table.get(path)?.digest);
        table = next;
      }
    }),
  );
});

test('the digest tells every fact of a file', () => {
  const one = file('a', '1');
  const others = [
    { ...one, path: 'b' },
    { ...one, digest: '2' },
    { ...one, size: 2 },
  ];
  const more = [
    { ...one, kind: 'map' },
    { ...one, reloadOnChange: false },
  ];
  const digests = [one, ...others, ...more].map((entry) => FileTable.of([entry]).digest);
  expect(new Set(digests).size).toBe(digests.length);
});
