import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { Log } from '@haptic/core/contract';

type Level = 'debug' | 'info' | 'warn' | 'error';

const levels: ReadonlyMap<string, Level> = new Map<string, Level>(
  Object.entries({
    // HAProxy's own; it warns at every start and stop, and what is wrong with a configuration its judge has said
    ALERT: 'error',
    WARNING: 'info',
    NOTICE: 'debug',
    // pino's numbers
    10: 'debug',
    20: 'debug',
    30: 'info',
    40: 'warn',
    50: 'error',
    60: 'error',
    // and names
    debug: 'debug',
    info: 'info',
    warn: 'warn',
    error: 'error',
  }),
);

/** Passes on what a child writes, line by line: our own programs' JSON as it was meant, HAProxy's lines by their level. */
export function forwardLines(stream: Readable, log: Log): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    if (line.trim() === '') return;
    const entry = jsonEntry(line);
    if (entry === undefined) log[levelOf(/^\[(\w+)\]/.exec(line)?.[1])]({ line }, 'HAProxy');
    else log[entry.level](entry.fields, entry.message);
  });
}

function jsonEntry(line: string): { level: Level; fields: object; message: string } | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const { level, msg, message, time: _time, pid: _pid, hostname: _host, ...fields } = JSON.parse(line);
    return { level: levelOf(String(level)), fields, message: String(msg ?? message ?? '') };
  } catch {
    return undefined;
  }
}

function levelOf(name: string | undefined): Level {
  return levels.get(name ?? '') ?? 'info';
}
