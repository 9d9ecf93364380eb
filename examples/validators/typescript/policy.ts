import type { Diagnostic, JudgedFile, Verdict } from './protocol.ts';

/** What this validator is about: replace it by your own. Positions count from 1. */
const rules = [
  { severity: 'errors', pattern: /\bverify none\b/, message: "a server's certificate has to be verified" },
  {
    severity: 'warnings',
    pattern: /\bhttp-reuse always\b/,
    message: 'idle connections are shared between clients',
  },
] as const;

export function judge(files: readonly JudgedFile[]): Verdict {
  const found = { errors: [] as Diagnostic[], warnings: [] as Diagnostic[] };
  // Data rides along to be looked things up in; it is not judged.
  for (const { path, content } of files.filter(({ kind }) => kind !== 'data')) {
    for (const [index, text] of content.split('\n').entries()) {
      for (const { severity, pattern, message } of rules) {
        const column = text.search(pattern) + 1;
        if (column > 0) found[severity].push({ path, line: index + 1, column, message });
      }
    }
  }
  return found;
}
