import { isAscii } from 'node:buffer';
import type { DeployPlan, Rendered } from '@haptic/core/contract';
import {
  chunkParts,
  type ApplyFile,
  type ApplyMessage,
  type ChunkParts,
  type Token,
} from '@haptic/agent/protocol';
import { fileDelta } from './file-delta.ts';
import { filePatch, toBase64 } from './file-patch.ts';
import type { PlanChunk, PlanChunks } from './plan-chunks.ts';

/** The first protocol with `text`. */
const TEXT_SINCE = 2;

export interface MessageFacts {
  readonly rendered: Rendered;
  /** That the agent speaks. */
  readonly protocol: number;
  readonly token: Token;
  readonly expect: string | null;
  readonly mode: 'auto' | 'reload';
  /** What changes the running worker; nothing where everything is loaded anew whatever it runs. */
  readonly changes: Pick<DeployPlan, 'ops' | 'inPlaceOps'> | undefined;
  readonly validated: boolean;
  /** Cuts plans into parts. */
  readonly chunks: PlanChunks;
  /** Whether the agent lacks this part of the plan. */
  readonly lacksChunk: (digest: string) => boolean;
  /** Whether the agent lacks the content of this file. */
  readonly lacks: (file: { readonly path: string; readonly digest: string }) => boolean;
  /** What the agent has: where that is what is expected, only what differs from it is sent. */
  readonly before: Rendered | undefined;
}

export function applyMessage(facts: MessageFacts): ApplyMessage {
  const { rendered, lacksChunk, expect } = facts;
  const { plan } = rendered;
  const chunks = facts.chunks.of(plan);
  const digests = chunks.map(({ digest }) => digest);
  const sent = chunks.filter(({ digest }) => lacksChunk(digest));
  const base = facts.before?.plan.id === expect ? facts.before?.plan : undefined;
  const delta = base && fileDelta(plan, base);
  return {
    planId: plan.id,
    textId: plan.textId,
    token: facts.token,
    expect,
    mode: facts.mode,
    files: (delta?.files ?? plan.files).map(({ path, kind, digest, size, reloadOnChange }) => ({
      path,
      kind,
      digest,
      size,
      reloadOnChange,
      ...(facts.lacks({ path, digest }) && contentOf(path, facts)),
    })),
    ...(delta && { delta: { removed: [...delta.removed], digest: delta.digest } }),
    ops: [...(facts.changes?.ops ?? [])],
    inPlaceOps: [...(facts.changes?.inPlaceOps ?? [])],
    binds: plan.binds.map(({ address }) => ({ address })),
    ...(facts.validated && { validated: plan.id }),
    plan: {
      chunks: base === undefined ? digests : partsOf(digests, facts.chunks.of(base)),
      data: Object.fromEntries(sent.map(({ digest, bytes }) => [digest, bytes.toString('base64')])),
    },
  };
}

function partsOf(digests: readonly string[], base: readonly PlanChunk[]): ChunkParts {
  return chunkParts(
    digests,
    base.map(({ digest }) => digest),
  );
}

/** Takes a plan back from a pod that still has it. */
export function revertMessage(plan: string, token: Token): ApplyMessage {
  return { planId: plan, textId: '', token, expect: plan, mode: 'revert_lkg', files: [] };
}

function contentOf(
  path: string,
  { rendered, before, protocol }: MessageFacts,
): Pick<ApplyFile, 'text' | 'content' | 'patch'> {
  const patch = before === undefined ? undefined : filePatch(path, rendered, before);
  if (patch !== undefined) return { patch };
  const bytes = rendered.files.read(path);
  // A single letter of another alphabet in it would double the memory that it takes to read the message.
  return protocol >= TEXT_SINCE && isAscii(bytes) ? { text: toAscii(bytes) } : { content: toBase64(bytes) };
}

function toAscii(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
