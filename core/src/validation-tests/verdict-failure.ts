import type { Finding, Verdict } from '../contract/finding.ts';
import type { Rendered } from '../contract/render-plan.ts';
import { showLine } from './excerpts.ts';
import { shownLines } from './secrets.ts';

/** The errors among a verdict's findings, as they were said, each with the line that it is about. */
export function verdictFailure(verdict: Verdict, rendered: Rendered): string | undefined {
  if (verdict.kind === 'passed') return undefined;
  const errors = verdict.findings.filter(({ severity }) => severity === 'error');
  return [
    verdict.kind === 'refused' ? 'it was refused' : `there is no verdict: ${verdict.reason}`,
    ...errors.flatMap((finding) => errorLines(finding, rendered)),
  ].join('\n');
}

/** Whether HAProxy itself finds fault with the files. */
export function isRefusedByHaproxy({ kind, findings }: Verdict): boolean {
  return (
    kind === 'refused' && findings.some(({ phase, severity }) => phase === 'haproxy' && severity === 'error')
  );
}

/** The files of a test are nowhere to be looked at: what a line says is often all that its author needs. */
function errorLines({ judge, path, line, message }: Finding, rendered: Rendered): readonly string[] {
  if (path === undefined) return [`${judge}: ${message}`];
  if (line === undefined) return [`${judge}: ${path}: ${message}`];
  const lines = shownLines(rendered, path);
  const said = `${judge}: ${path}:${line}: ${message}`;
  return lines === undefined || line > lines.length ? [said] : [said, showLine(lines, line - 1)];
}
