import type { Log } from '@haptic/core/contract';

/** One line of JSON an entry, on standard error. */
export function jsonLog(bindings: object = {}): Log {
  const write =
    (level: string) =>
    (fields: object, message: string): void => {
      const plain = Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [name, value instanceof Error ? value.stack : value]),
      );
      process.stderr.write(`${JSON.stringify({ level, message, ...bindings, ...plain })}\n`);
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => jsonLog({ ...bindings, ...more }),
  };
}
