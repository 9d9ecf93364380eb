import type { Problem } from '@haptic/core/contract';
import type { FileValue } from '../files/file-tree.ts';
import { twiceProblem, type LocatedObject } from './read-objects.ts';

/** An object with the file that it is taken from. */
export interface OwnedObject extends LocatedObject {
  readonly path: string;
}

export interface United {
  readonly objects: ReadonlyMap<string, OwnedObject>;
  /** Objects that stand in two files. */
  readonly problems: readonly Problem[];
}

type Files = ReadonlyMap<string, FileValue<readonly LocatedObject[]>>;

/** Who of those that define an object comes first: files that are there, then whose it already was, then the first path. */
function precedes(a: OwnedObject, b: OwnedObject, files: Files, owner: string | undefined): boolean {
  const [aGone, bGone] = [files.get(a.path)!.missing, files.get(b.path)!.missing];
  if (aGone !== bGone) return bGone;
  if (a.path === owner || b.path === owner) return a.path === owner;
  return a.path < b.path;
}

/** The objects of all files. One that stands in two of them stays whose it was in `before`, until its file lets go of it. */
export function uniteObjects(files: Files, before: ReadonlyMap<string, OwnedObject>): United {
  const objects = new Map<string, OwnedObject>();
  const problems: Problem[] = [];
  for (const [path, { value, missing }] of files) {
    for (const located of value) {
      const object = { ...located, path };
      const other = objects.get(object.identity);
      if (other === undefined) {
        objects.set(object.identity, object);
        continue;
      }
      const owner = before.get(object.identity)?.path;
      const [first, second] = precedes(object, other, files, owner) ? [object, other] : [other, object];
      objects.set(object.identity, first);
      // A file that is gone has most likely been renamed.
      if (!missing && !files.get(other.path)!.missing) problems.push(twiceProblem(first, second));
    }
  }
  return { objects, problems };
}
