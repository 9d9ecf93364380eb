import { styleText } from 'node:util';

/** Where a command speaks: results to `out`, everything about them to `err`. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly style: Style;
  /** One line that the next one replaces, for a person who waits; undefined takes it away. Absent where nobody looks. */
  readonly progress?: (text: string | undefined) => void;
  /** Empties the screen of a person who looks at it. */
  readonly clear?: () => void;
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
    ...(stderr.isTTY && { progress: (text = '') => void stderr.write(`\r${text}\x1B[K`) }),
    ...(stdout.isTTY && { clear: () => void stdout.write('\x1B[2J\x1B[3J\x1B[H') }),
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
