import { SocketFailure } from '../haproxy/exchange.ts';
import { askAnew, type Answer, type WorkerConnection } from '../haproxy/worker-connection.ts';
import { checkReply, OperationRefused, type Command } from './command.ts';
import type { CommandLimits } from './limits.ts';

export interface WorkerLine {
  /** The worker's socket. */
  readonly socket: string;
  readonly limits: CommandLimits;
  readonly signal: AbortSignal;
  /** The one that all goes over; without it each line has its own. */
  readonly connection?: WorkerConnection | undefined;
}

/** The line behind a payload. Before 3.4 it may have seven characters. */
const END = '%end%';

/**
 * Sends commands, as many as fit on a line, and checks the reply of each. A refused one does not keep HAProxy from those
 * behind it on the same line: what must not happen after a refusal belongs into another call.
 * @throws OperationRefused for the first one that HAProxy refuses.
 * @throws SocketFailure when it is not known what HAProxy did.
 */
export async function converse(commands: readonly Command[], line: WorkerLine): Promise<void> {
  for (const group of groups(commands, line.limits)) {
    const answer = await say(group.map(written).join('; '), group.length, line);
    for (const [index, sent] of group.entries()) {
      const reply = answer.blocks[index];
      if (reply === undefined) throw noReply(sent, answer.text);
      checkReply(sent, reply);
    }
  }
}

/** Asks for something to read. */
export async function ask(question: Command, line: WorkerLine): Promise<string> {
  const [reply] = (await say(question.text, 1, line)).blocks;
  if (reply === undefined) throw new SocketFailure(`${line.socket}: no reply to \`${question.text}\``);
  return reply;
}

function say(text: string, commands: number, { connection, socket, signal }: WorkerLine): Promise<Answer> {
  return connection?.ask(text, commands) ?? askAnew(socket, text, signal);
}

function written({ text, payload }: Command): string {
  return payload === undefined ? text : `${text} <<${END}\n${payload}${END}\n`;
}

/** By the limits; a payload ends its line. */
function* groups(commands: readonly Command[], limits: CommandLimits): Iterable<readonly Command[]> {
  let group: Command[] = [];
  let size = 0;
  for (const next of commands) {
    checkSize(next, limits);
    const bytes = Buffer.byteLength(next.text) + 2;
    const together = size + bytes + (next.payload === undefined ? 0 : Buffer.byteLength(next.payload));
    if (group.length > 0 && together > limits.line) {
      yield group;
      group = [];
      size = 0;
    }
    group.push(next);
    size += bytes;
    if (next.payload === undefined) continue;
    yield group;
    group = [];
    size = 0;
  }
  if (group.length > 0) yield group;
}

function checkSize({ text, payload = '' }: Command, limits: CommandLimits): void {
  const what = `\`${text.slice(0, 200)}\``;
  if (Buffer.byteLength(text) > limits.line) throw new OperationRefused(`${what} is too long for a command`);
  if (Buffer.byteLength(payload) > limits.payload)
    throw new OperationRefused(`what belongs to ${what} is too long for a command`);
  if (payload.includes(`${END}\n`)) throw new OperationRefused(`what belongs to ${what} holds ${END}`);
}

/** A line that is too long for HAProxy is the one thing that it answers without an empty line behind it. */
function noReply({ text }: Command, answer: string): Error {
  const words = answer.split('\n').find((row) => row.includes('too big'));
  if (words !== undefined) return new OperationRefused(`\`${text.slice(0, 200)}\`: ${words}`);
  return new SocketFailure(`no reply to \`${text.slice(0, 200)}\``);
}
