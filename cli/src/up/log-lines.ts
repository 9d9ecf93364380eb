import type { LogDestination } from '@haptic/core/host';
import type { Terminal, Tone } from '../terminal.ts';

interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly problem?: unknown;
  readonly why?: unknown;
  readonly reason?: unknown;
  readonly err?: { readonly message?: unknown };
  readonly [field: string]: unknown;
}

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warn: 'warn' };

/** Where the log of `haptic up` goes when a person looks on: the sentence and what is wrong, without stacks and fields. */
export function logLines(terminal: Terminal): LogDestination {
  return {
    write(text) {
      const line = JSON.parse(text) as LogLine;
      if (!isReported(line)) terminal.err(logLine(line, terminal));
    },
  };
}

/** The reporter says which objects are held, and what is taken back. */
function isReported({ component, object, takenBack }: LogLine): boolean {
  return (component === 'quarantine' && object !== undefined) || takenBack === true;
}

function logLine(line: LogLine, { style }: Terminal): string {
  const detail = line.problem ?? line.why ?? line.reason ?? line.err?.message;
  const text = typeof detail === 'string' ? `${line.msg}\n${indent(detail)}` : `${line.msg}${fields(line)}`;
  return `${style(tones[line.level] ?? 'quiet', line.level.padEnd(7))} ${text}`;
}

/** Fields are shown only where there is no text that says what is wrong. */
function fields({ level: _level, time: _time, msg: _msg, plugin: _plugin, ...rest }: LogLine): string {
  const parts = Object.entries(rest).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '        ');
}
