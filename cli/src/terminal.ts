import { styleText } from 'node:util';

/** Where a command speaks: results to `out`, everything about them to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly style: Style;
}

export type Tone = 'good' | 'bad' | 'warn' | 'quiet' | 'strong';
export type Style = (tone: Tone, text: string) => string;

const formats = { good: 'green', bad: 'red', warn: 'yellow', quiet: 'dim', strong: 'bold' } as const;

/** Colour only where a person looks: a terminal, and NO_COLOR not set. */
export function createTerminal(
  stdout: NodeJS.WriteStream = process.stdout,
  stderr: NodeJS.WriteStream = process.stderr,
): Terminal {
  // A reader that has seen enough (`haptic plugins | head`) is no fault.
  for (const stream of [stdout, stderr]) stream.on('error', ignoreClosedPipe);
  const colour = stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '';
  return {
    out: (text) => void stdout.write(`${text}\n`),
    err: (text) => void stderr.write(`${text}\n`),
    style: (tone, text) => (colour ? styleText(formats[tone], text, { validateStream: false }) : text),
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
