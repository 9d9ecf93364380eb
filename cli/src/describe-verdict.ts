import { describeRef, type Finding, type Verdict } from '@haptic/core/contract';
import type { Style } from './terminal.ts';

/** What the judges said, a finding a paragraph: the words, where, and which snippet and objects declared that line. */
export function describeVerdict(verdict: Verdict | undefined, style: Style): string[] {
  if (verdict === undefined) return ['nobody judged'];
  const head = verdict.kind === 'interrupted' ? [`${style('bad', 'no verdict:')} ${verdict.reason}`] : [];
  return [...head, ...verdict.findings.map((finding) => describeFinding(finding, style))];
}

function describeFinding(
  { judge, severity, path, line, message, provenance }: Finding,
  style: Style,
): string {
  const label = style(severity === 'error' ? 'bad' : 'warn', `${severity}:`);
  const place = path === undefined ? '' : ` ${path}${line === undefined ? '' : `:${line}`}:`;
  const from =
    provenance === undefined
      ? []
      : [
          `  from the snippet "${provenance.snippet}" (${provenance.source}), line ${provenance.line}`,
          ...provenance.objects.map((object) => `  for ${describeRef(object)}`),
        ];
  return [`${label} ${judge}:${place} ${message}`, ...from].join('\n');
}
