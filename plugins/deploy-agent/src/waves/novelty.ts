import type { Operation, RenderPlan } from '@haptic/core/contract';

/**
 * The kinds of changes among operations: what is done, and to a backend of which profile. HAProxy does the same thing the same way,
 * so a kind that went well on one pod is no news for the others.
 */
export function kindsOf(
  ops: readonly Operation[],
  { next, before }: { readonly next: RenderPlan; readonly before: RenderPlan | undefined },
): readonly string[] {
  const profileOf = (backend: string): string =>
    own(next.backends, backend)?.profile ?? own(before?.backends ?? {}, backend)?.profile ?? '';
  const kinds = new Set<string>();
  for (const op of ops) {
    if ('backend' in op) kinds.add(`${op.op} ${profileOf(op.backend)}`);
    else if (op.op === 'backend.add' || op.op === 'backend.del') kinds.add(`${op.op} ${profileOf(op.name)}`);
    else kinds.add(op.op);
  }
  return [...kinds];
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
