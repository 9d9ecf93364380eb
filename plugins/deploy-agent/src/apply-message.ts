import { gzipSync } from 'node:zlib';
import type { DeployPlan, Rendered, RenderPlan } from '@haptic/core/contract';
import type { ApplyMessage, Token } from '@haptic/agent/protocol';

export interface MessageFacts {
  readonly rendered: Rendered;
  readonly token: Token;
  readonly expect: string | null;
  readonly mode: 'auto' | 'reload';
  /** What changes the running worker; nothing where everything is loaded anew whatever it runs. */
  readonly changes: Pick<DeployPlan, 'ops' | 'inPlaceOps'> | undefined;
  readonly validated: boolean;
  /** Whether the agent lacks the content of this file. */
  readonly lacks: (file: { readonly path: string; readonly digest: string }) => boolean;
}

const compressed = new WeakMap<RenderPlan, string>();

/** The plan as agents keep it; made once for all pods. */
function storedPlan(plan: RenderPlan): string {
  const known = compressed.get(plan) ?? gzipSync(JSON.stringify(plan), { level: 1 }).toString('base64');
  compressed.set(plan, known);
  return known;
}

export function applyMessage(facts: MessageFacts): ApplyMessage {
  const { plan, files } = facts.rendered;
  return {
    planId: plan.id,
    textId: plan.textId,
    token: facts.token,
    expect: facts.expect,
    mode: facts.mode,
    files: plan.files.map(({ path, kind, digest, size, reloadOnChange }) => ({
      path,
      kind,
      digest,
      size,
      reloadOnChange,
      ...(facts.lacks({ path, digest }) && { content: toBase64(files.read(path)) }),
    })),
    ops: [...(facts.changes?.ops ?? [])],
    inPlaceOps: [...(facts.changes?.inPlaceOps ?? [])],
    binds: plan.binds.map(({ address }) => ({ address })),
    ...(facts.validated && { validated: plan.id }),
    plan: storedPlan(plan),
  };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
