import type { Log } from '../contract/observability.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

export interface LogRecord {
  readonly level: Level;
  readonly message: string;
  /** Those of the line over those of its log's parents. */
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface MemoryLog extends Log {
  /** Of this log and all its children, in order. */
  readonly records: readonly LogRecord[];
  child(bindings: object): MemoryLog;
}

/** Keeps what is logged. */
export function memoryLog(): MemoryLog {
  return logInto([], {});
}

function logInto(records: LogRecord[], bindings: object): MemoryLog {
  const at =
    (level: Level) =>
    (fields: object, message: string): void => {
      records.push({ level, message, fields: { ...bindings, ...fields } });
    };
  return {
    records,
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => logInto(records, { ...bindings, ...more }),
  };
}
