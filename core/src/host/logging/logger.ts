import { pino, stdTimeFunctions, type Logger as Pino } from 'pino';
import type { Log } from '../../contract/observability.ts';
import { prettyLine } from './pretty-line.ts';
import { redact } from './redact.ts';
import { redactText } from '../../contract/redact-text.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The process's one log. Children follow a change of the level. */
export interface Logger extends Log {
  setLevel(level: LogLevel): void;
  /** Everything logged so far is written when it returns. */
  flush(): void;
}

/** Takes whole lines, their end included. */
export interface LogDestination {
  write(line: string): void;
  flushSync?(): void;
}

export interface LoggerOptions {
  readonly level?: LogLevel;
  /** Where lines go; standard output when absent. */
  readonly destination?: LogDestination;
  /** For people instead of machines; by default only on a terminal. */
  readonly pretty?: boolean;
}

/**
 * One JSON line for each event, redacted. Written synchronously: a transport thread would lose the lines before a crash, and logs
 * are few.
 */
export function createLogger({ level = 'info', destination, pretty }: LoggerOptions = {}): Logger {
  const output = destination ?? standardOutput();
  const forPeople = pretty ?? (destination === undefined && process.stdout.isTTY);
  const root = pino(
    {
      base: null,
      level: 'debug',
      serializers: { err: (fields: unknown) => fields }, // plain data already, see redact
      formatters: { level: (label) => ({ level: label }) },
      timestamp: stdTimeFunctions.isoTime,
    },
    forPeople ? { write: (line: string) => output.write(prettyLine(line)) } : output,
  );
  const threshold = { level };
  return {
    ...logThrough(root, threshold),
    setLevel(next) {
      threshold.level = next;
    },
    flush() {
      output.flushSync?.();
    },
  };
}

/** A reader that went away (`haptic run | head`) must not end what serves. */
function standardOutput(): LogDestination {
  const stream = pino.destination({ dest: 1, sync: true });
  stream.on('error', () => {});
  return stream;
}

function logThrough(target: Pino, threshold: { readonly level: LogLevel }): Log {
  const at =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(threshold.level)) return;
      target[level](plainFields(fields), redactText(message));
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (bindings) => logThrough(target.child(plainFields(bindings)), threshold),
  };
}

function plainFields(fields: object): object {
  const plain = redact(fields);
  return typeof plain === 'object' && plain !== null && !Array.isArray(plain) ? plain : { fields: plain };
}
