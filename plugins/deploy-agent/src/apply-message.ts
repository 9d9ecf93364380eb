import type { DeployPlan, Rendered } from '@haptic/core/contract';
import type { ApplyFile, ApplyMessage, Token } from '@haptic/agent/protocol';
import { filePatch, toBase64 } from './file-patch.ts';
import type { PlanChunk } from './plan-chunks.ts';

export interface MessageFacts {
  readonly rendered: Rendered;
  readonly token: Token;
  readonly expect: string | null;
  readonly mode: 'auto' | 'reload';
  /** What changes the running worker; nothing where everything is loaded anew whatever it runs. */
  readonly changes: Pick<DeployPlan, 'ops' | 'inPlaceOps'> | undefined;
  readonly validated: boolean;
  /** The plan, in parts. */
  readonly chunks: readonly PlanChunk[];
  /** Whether the agent lacks this part of the plan. */
  readonly lacksChunk: (digest: string) => boolean;
  /** Whether the agent lacks the content of this file. */
  readonly lacks: (file: { readonly path: string; readonly digest: string }) => boolean;
  /** Files that the agent has, to make others from. */
  readonly before: Rendered | undefined;
}

export function applyMessage(facts: MessageFacts): ApplyMessage {
  const { rendered, chunks, lacksChunk } = facts;
  const { plan } = rendered;
  const sent = chunks.filter(({ digest }) => lacksChunk(digest));
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
      ...(facts.lacks({ path, digest }) && contentOf(path, facts)),
    })),
    ops: [...(facts.changes?.ops ?? [])],
    inPlaceOps: [...(facts.changes?.inPlaceOps ?? [])],
    binds: plan.binds.map(({ address }) => ({ address })),
    ...(facts.validated && { validated: plan.id }),
    plan: {
      chunks: chunks.map(({ digest }) => digest),
      data: Object.fromEntries(sent.map(({ digest, bytes }) => [digest, bytes.toString('base64')])),
    },
  };
}

/** Takes a plan back from a pod that still has it. */
export function revertMessage(plan: string, token: Token): ApplyMessage {
  return { planId: plan, textId: '', token, expect: plan, mode: 'revert_lkg', files: [] };
}

function contentOf(path: string, { rendered, before }: MessageFacts): Pick<ApplyFile, 'content' | 'patch'> {
  const patch = before === undefined ? undefined : filePatch(path, rendered, before);
  return patch === undefined ? { content: toBase64(rendered.files.read(path)) } : { patch };
}
