import { describeRef, Refused, Retry, type Finding, type Verdict } from '../contract/index.ts';

function where({ path, line, column }: Finding): string {
  return [path, line, column].filter((part) => part !== undefined).join(':');
}

/** What a finding says and, where known, which snippet and objects it is about. */
export function describeFinding(finding: Finding): string {
  const { provenance, judge, message } = finding;
  if (provenance === undefined) return `${judge}: ${message}`;
  const objects = provenance.objects.map(describeRef);
  const from = [`${provenance.source} ${provenance.snippet}:${provenance.line}`, ...objects].join(', ');
  return `${judge}: ${message} (from ${from})`;
}

/** A verdict other than passed as an error: Refused with every error finding, Retry where there is no verdict. */
export function verdictError(verdict: Exclude<Verdict, { readonly kind: 'passed' }>): Refused | Retry {
  if (verdict.kind === 'interrupted') return new Retry(`no verdict: ${verdict.reason}`);
  const errors = verdict.findings.filter(({ severity }) => severity === 'error');
  return new Refused(errors.map((finding) => ({ where: where(finding), message: describeFinding(finding) })));
}
