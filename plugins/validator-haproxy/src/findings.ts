import { MAIN_CONFIG, type RenderPlan, type ReportedFinding } from '@haptic/core/contract';
import { parseMessages, type Message } from './messages.ts';
import { placeOf } from './place.ts';

/** As much of a `Rendered` as placing messages needs. */
export interface JudgedFiles {
  readonly plan: Pick<RenderPlan, 'sections'>;
  readonly files: { read(path: string): Uint8Array };
}

/**
 * What HAProxy printed as findings. The exit code has decided already: on a pass everything is a warning, on a refusal there is
 * at least one error.
 */
export function findingsOf(
  output: string,
  verdict: 'passed' | 'refused',
  judged: JudgedFiles,
): readonly ReportedFinding[] {
  const findings = parseMessages(output)
    .filter(({ level }) => level !== 'notice')
    .map((message) => toFinding(message, verdict, judged));
  if (verdict === 'passed' || findings.some(({ severity }) => severity === 'error')) return findings;
  const words = output.trim() === '' ? 'without a word' : `saying:\n${output.trim()}`;
  return [...findings, { severity: 'error', message: `HAProxy refused the configuration ${words}` }];
}

function toFinding(message: Message, verdict: 'passed' | 'refused', judged: JudgedFiles): ReportedFinding {
  const { text, backend, path, line, column } = placeOf(message.text);
  const severity = message.level === 'alert' && verdict === 'refused' ? 'error' : 'warning';
  const sectionLine = backend === undefined ? undefined : lineOfBackend(backend, judged);
  const place = path !== undefined && line !== undefined ? { path, line } : sectionPlace(sectionLine);
  return { severity, message: text, ...place, ...(column === undefined ? {} : { column }) };
}

function sectionPlace(line: number | undefined): { readonly path?: string; readonly line?: number } {
  return line === undefined ? {} : { path: MAIN_CONFIG, line };
}

/** The first line of a backend's section: the sections are a partition of the file, so their lengths tell. */
function lineOfBackend(name: string, { plan, files }: JudgedFiles): number | undefined {
  let offset = 0;
  for (const section of plan.sections) {
    if (section.kind === 'backend' && section.name === name) {
      const before = Buffer.from(files.read(MAIN_CONFIG).subarray(0, offset));
      return before.toString('latin1').split('\n').length;
    }
    offset += section.length;
  }
  return undefined;
}
