import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FileEntry, RenderPlan } from '@haptic/core/contract';
import { fileSetDigest, sumOf } from '@haptic/agent/protocol';
import { fileDelta } from './file-delta.ts';

const sets = fc
  .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.constantFrom('1', '2')), {
    selector: ([path]) => path,
  })
  .map((rows): RenderPlan => {
    const files = rows
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([path, digest]): FileEntry => ({ path, digest, size: 1, kind: 'file', reloadOnChange: true }));
    return { files } as unknown as RenderPlan;
  });

test('what differs, put into the former set, gives the next one, which the digest stands for', () => {
  fc.assert(
    fc.property(sets, fc.array(sets), (first, rest) => {
      let before = first;
      for (const next of rest) {
        const { files, removed, digest } = fileDelta(next, before);
        const made = new Map(before.files.map((file) => [file.path, file]));
        for (const path of removed) expect(made.delete(path)).toBe(true);
        for (const file of files) made.set(file.path, file);
        expect([...made.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(next.files);
        expect(digest).toBe(fileSetDigest(sumOf(next.files)));
        before = next;
      }
    }),
  );
});
