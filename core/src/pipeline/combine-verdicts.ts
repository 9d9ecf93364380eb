import type { Verdict } from '../contract/finding.ts';

/** One answer of several: an error anywhere refuses, a missing answer anywhere is none. */
export function combineVerdicts(verdicts: readonly Verdict[]): Verdict {
  const findings = verdicts.flatMap((verdict) => verdict.findings);
  if (verdicts.some(({ kind }) => kind === 'refused')) return { kind: 'refused', findings };
  const reasons = verdicts.flatMap((verdict) => (verdict.kind === 'interrupted' ? verdict.reason : []));
  if (reasons.length > 0) return { kind: 'interrupted', reason: reasons.join('; '), findings };
  return { kind: 'passed', findings };
}
