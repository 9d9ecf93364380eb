import type { AgentState, ApplyFile, ApplyMessage } from '@haptic/agent/protocol';
import { LIMITS } from '@haptic/agent/protocol';

/** More of them make nothing clearer. */
const MOST_NAMED = 5;
const OWN_LIMIT = `an agent takes at most ${bytes(LIMITS.body)}`;

/** As it is sent; or in words why it is not, since no agent would take it. */
export function encoded(message: ApplyMessage): { readonly text: string } | { readonly tooLarge: string } {
  const contents = message.files.map(sentLength).reduce((sum, length) => sum + length, 0);
  // Not even put together: the longest strings that there can be are not much longer.
  if (contents > LIMITS.body)
    return { tooLarge: tooLargeWords(message, `contents of ${bytes(contents)}`, OWN_LIMIT) };
  const text = JSON.stringify(message);
  const size = Buffer.byteLength(text);
  return size > LIMITS.body ? { tooLarge: tooLargeWords(message, bytes(size), OWN_LIMIT) } : { text };
}

/** What is too large, and what makes it so. */
export function tooLargeWords(message: ApplyMessage, size: string, limit: string): string {
  const sent = message.files.filter((file) => sentLength(file) > 0);
  const largest = sent.toSorted((a, b) => sentLength(b) - sentLength(a)).slice(0, MOST_NAMED);
  const names = largest.map((file) => `${file.path} (${bytes(file.size)})`).join(', ');
  const files = sent.length === 1 ? 'it carries one file' : `it carries ${sent.length} files, the largest`;
  return `the message for this pod is too large: it has ${size}, ${limit}; ${files}: ${names}`;
}

export function bytes(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`;
}

function sentLength({ text, content, patch }: ApplyFile): number {
  const parts = patch?.parts.map((part) => (typeof part === 'string' ? part.length : 0)) ?? [];
  return (text ?? content ?? '').length + parts.reduce((sum, length) => sum + length, 0);
}

/** The plan whose message was too large for what the pod had: for the same the same would be built again. */
export class Oversize {
  #last: { readonly key: string; readonly words: string } | undefined;

  note(planId: string, state: AgentState, words: string): void {
    this.#last = { key: keyOf(planId, state), words };
  }

  words(planId: string, state: AgentState): string | undefined {
    return this.#last?.key === keyOf(planId, state) ? this.#last.words : undefined;
  }
}

function keyOf(planId: string, { agentVersion, generation }: AgentState): string {
  return JSON.stringify([planId, agentVersion, generation]);
}
