import { styleText } from 'node:util';

const colours = { debug: 'gray', info: 'green', warn: 'yellow', error: 'red' } as const;

/** A JSON log line as people read it: time, level, sentence, fields; the stack of an error below. */
export function prettyLine(line: string): string {
  const { time, level, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const label = String(level);
  const colour = label in colours ? colours[label as keyof typeof colours] : 'white';
  const parts = [
    styleText('gray', String(time).slice(11, 23)),
    styleText(colour, label.toUpperCase().padEnd(5)),
    String(msg),
    ...Object.entries(fields).map(([name, value]) => styleText('gray', `${name}=`) + shown(value)),
  ];
  return `${[parts.join(' '), ...errorLines(err)].join('\n')}\n`;
}

function shown(value: unknown): string {
  return typeof value === 'string' && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

function errorLines(err: unknown): string[] {
  if (typeof err !== 'object' || err === null) return [];
  const { stack, message, cause } = err as Record<string, unknown>;
  const own = typeof stack === 'string' ? stack : String(message);
  const because = errorLines(cause);
  const lines = own.split('\n').map((line) => `  ${line}`);
  return because.length === 0 ? lines : [...lines, '  caused by', ...because];
}
