import { MAIN_CONFIG } from '@haptic/core/contract';
import { FileTable } from '../files/file-table.ts';
import { parents } from '../files/path-rules.ts';
import type { TreeRecord } from '../files/tree.ts';
import { expandChunks, LIMITS, type ApplyRequest } from '../protocol/index.ts';

/** The set that a request is about, all of it. */
export interface WantedSet {
  readonly files: FileTable;
  /** Digests of the parts of its plan. */
  readonly plan: readonly string[];
}

export type Reading =
  | { readonly kind: 'set'; readonly set: WantedSet }
  /** The sender means another set than it says. */
  | { readonly kind: 'other_base' }
  | { readonly kind: 'broken'; readonly problems: readonly string[] };

/** Works out the set from what the request holds and, with a delta, from what is in place. */
export function wantedSet(request: ApplyRequest, current: TreeRecord | undefined): Reading {
  if (request.mode === 'revert_lkg') return { kind: 'set', set: { files: FileTable.of([]), plan: [] } };
  // A repeat whose first attempt put these very files in place.
  const isThere =
    request.delta !== undefined && current?.planId === request.planId && request.expect !== request.planId;
  const plan = isThere
    ? current.plan
    : expandChunks(request.plan.chunks, basePlan(request, current), LIMITS.files);
  if (plan === undefined)
    return { kind: 'broken', problems: ['plan.chunks: speaks of parts that the expected plan has not'] };
  if (request.delta === undefined) {
    const files = FileTable.of(request.files);
    return files.get(MAIN_CONFIG) === undefined
      ? broken([noMainFile])
      : { kind: 'set', set: { files, plan } };
  }
  if (current === undefined) return { kind: 'other_base' };
  const { removed, digest } = request.delta;
  const problems = deltaProblems(request, current.files);
  if (problems.length > 0) return broken(problems);
  const files = isThere ? current.files : current.files.with(request.files, removed);
  if (files.digest !== digest) return { kind: 'other_base' };
  return files.get(MAIN_CONFIG) === undefined ? broken([noMainFile]) : { kind: 'set', set: { files, plan } };
}

const noMainFile = `files: ${MAIN_CONFIG} is missing from the set`;

function broken(problems: readonly string[]): Reading {
  return { kind: 'broken', problems };
}

/** Ranges are about the plan that is in place, and nothing else. */
function basePlan({ delta }: ApplyRequest, current: TreeRecord | undefined): readonly string[] {
  return delta === undefined ? [] : (current?.plan ?? []);
}

/** What the rules for whole sets cannot see: how new paths go with those that stay. */
function deltaProblems({ files, delta }: ApplyRequest, base: FileTable): string[] {
  const removed = new Set(delta?.removed);
  const stays = (path: string): boolean => base.get(path) !== undefined && !removed.has(path);
  return files.flatMap(({ path }, index) => {
    if (removed.has(path)) return [`files.${index}.path: ${JSON.stringify(path)} is removed as well`];
    if (base.get(path) !== undefined) return [];
    const isFolder = base.hasFolder(path, stays);
    return isFolder || parents(path).some(stays)
      ? [`files.${index}.path: ${JSON.stringify(path)} is a file here and a folder of another file`]
      : [];
  });
}
