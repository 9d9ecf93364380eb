import type { Log } from '@haptic/core/contract';
import type { Tree } from '../files/tree.ts';
import type { TreeStore } from '../files/tree-store.ts';

/** For files that are in place and run, whatever becomes of the note of it: on a full disk the one before is as good. */
export function keepAsLastKnownGood(trees: TreeStore, tree: Tree, log: Log): void {
  try {
    trees.point('lkg', tree);
  } catch (error) {
    log.error({ err: error }, 'cannot keep these files as the last known good ones');
  }
}
