import type { ReportedFinding } from '@haptic/core/contract';
import type { Diagnostic, Response } from './response.ts';

/** Of one answer and severity: a broken validator must not fill logs and statuses. */
const MOST_FINDINGS = 100;
const LONGEST_MESSAGE = 4_000;

/**
 * An answer's diagnostics as findings in the validator's name.
 *
 * @param isFile Whether the set has a file of this path: other paths are words, not places.
 */
export function findingsOf(
  judge: string,
  { errors, warnings }: Response,
  isFile: (path: string) => boolean,
): readonly ReportedFinding[] {
  const toFindings = (
    severity: 'error' | 'warning',
    diagnostics: readonly Diagnostic[],
  ): ReportedFinding[] => {
    const findings = diagnostics
      .slice(0, MOST_FINDINGS)
      .map((diagnostic) => ({ judge, severity, ...placed(diagnostic, isFile) }));
    const more = diagnostics.length - findings.length;
    return more === 0
      ? findings
      : [...findings, { judge, severity, message: `and ${more} more of its ${severity}s` }];
  };
  return [...toFindings('error', errors), ...toFindings('warning', warnings)];
}

function placed(
  { path, line, column, message }: Diagnostic,
  isFile: (path: string) => boolean,
): Omit<ReportedFinding, 'severity'> {
  const words = message.trim() === '' ? 'gave no message' : message.slice(0, LONGEST_MESSAGE);
  if (path === '') return { message: words };
  if (!isFile(path)) return { message: `${path.slice(0, LONGEST_MESSAGE)}: ${words}` };
  // 0 means unknown; a column of an unknown line says nothing.
  if (line === 0) return { message: words, path };
  return { message: words, path, line, ...(column > 0 && { column }) };
}
