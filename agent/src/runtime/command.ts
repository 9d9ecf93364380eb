/** One command of HAProxy's runtime interface, and how its success reads: there are no status codes. */
export interface Command {
  /** Escaped, without the end of the line. */
  readonly text: string;
  /** Lines that belong to the command, each with its end. */
  readonly payload?: string;
  /** Of the last line of the reply; undefined: the reply is empty. Everything else is a refusal. */
  readonly success: RegExp | undefined;
  /** Of the whole reply: says that there is nothing that the command could be about, which is fine. */
  readonly nothingThere?: RegExp;
}

/** HAProxy did not do what it was told, or could not even be told. */
export class OperationRefused extends Error {
  override readonly name = 'OperationRefused';
}

const UNSPEAKABLE = /[\0-\x1f\x7f]/;

/** A word as the runtime interface reads it: blanks and semicolons separate, backslashes escape, quotes are nothing special. */
export function spell(word: string): string {
  if (word === '' || UNSPEAKABLE.test(word)) {
    throw new OperationRefused(`${JSON.stringify(word.slice(0, 200))} cannot be a word of a command`);
  }
  return word.replaceAll(/[\\; <]/g, '\\$&');
}

/** A command that succeeds in silence, or by what `success` says. */
export function command(words: readonly string[], success?: RegExp): Command {
  return { text: words.map(spell).join(' '), success };
}

/** Before 3.4 a wait for nothing does not say why it fails; the command behind it does. */
const GONE = /No such (?:server|backend)\.$|^Key not found\.$|^Failed\.$/;

/** The same, content with there being nothing to wait for and nothing to delete any more. */
export function orGone({ text, success = /^$/ }: Command): Command {
  return { text, success: new RegExp(`${success.source}|${GONE.source}`) };
}

/** @throws OperationRefused when the reply is not that of a success. */
export function checkReply({ text, success, nothingThere }: Command, reply: string): void {
  if (nothingThere?.test(reply) === true) return;
  if (success === undefined ? reply === '' : success.test(reply.slice(reply.lastIndexOf('\n') + 1))) return;
  const words = reply === '' ? 'no words' : reply.slice(0, 1_000);
  throw new OperationRefused(`\`${text.slice(0, 200)}\`: ${words}`);
}
