import { describe, expect, it } from 'vitest';
import type { FileValue } from '../files/file-tree.ts';
import { readDocuments } from '../yaml/documents.ts';
import { readObjects, type LocatedObject } from './read-objects.ts';
import { uniteObjects } from './unite-objects.ts';

type Value = FileValue<readonly LocatedObject[]>;

async function file(path: string, names: readonly string[], missing = false): Promise<[string, Value]> {
  const text = names
    .map((name) => `{apiVersion: v1, kind: Service, metadata: {name: ${name}}}`)
    .join('\n---\n');
  return [path, { value: readObjects(await readDocuments(path, text), () => []), missing }];
}

async function unite(
  files: readonly Promise<[string, Value]>[],
  before: ReturnType<typeof uniteObjects>['objects'] = new Map(),
) {
  const united = uniteObjects(new Map(await Promise.all(files)), before);
  const owners = Object.fromEntries(
    [...united.objects.values()].map(({ object, path }) => [object.metadata.name, path]),
  );
  return { ...united, owners };
}

describe('uniteObjects', () => {
  it('takes what is in all files', async () => {
    const { owners, problems } = await unite([file('a', ['x', 'y']), file('b', ['z'])]);
    expect(owners).toEqual({ x: 'a', y: 'a', z: 'b' });
    expect(problems).toEqual([]);
  });

  it('names both files of an object that stands in two, and keeps the first known one', async () => {
    const first = await unite([file('b', ['x'])]);
    const second = await unite([file('a', ['x', 'y']), file('b', ['x'])], first.objects);
    expect(second.owners).toEqual({ x: 'b', y: 'a' });
    expect(second.problems).toEqual([
      { where: 'a:1:1', message: 'Service default/x is already defined at b:1:1' },
    ]);
    const third = await unite([file('a', ['x', 'y'])], second.objects);
    expect(third.owners).toEqual({ x: 'a', y: 'a' });
    expect(third.problems).toEqual([]);
  });

  it('takes the first path where nobody was first', async () => {
    const { owners, problems } = await unite([file('a', ['x']), file('b', ['x']), file('c', ['x'])]);
    expect(owners).toEqual({ x: 'a' });
    expect(problems.map(({ where }) => where)).toEqual(['b:1:1', 'c:1:1']);
  });

  it('takes a file that is gone for one that was renamed', async () => {
    const first = await unite([file('b', ['x', 'only-b'])]);
    const { owners, problems } = await unite(
      [file('a', ['x']), file('b', ['x', 'only-b'], true)],
      first.objects,
    );
    expect(owners).toEqual({ x: 'a', 'only-b': 'b' });
    expect(problems).toEqual([]);
  });
});
