import type { DeployPlan, FileEntry, PlanInput, RenderPlan, Section } from '../contract/index.ts';

/** More reasons than this say nothing new; the rest is counted. */
const LISTED_REASONS = 64;

type Change = 'added' | 'changed' | 'removed';

/** Calls back for every key whose digest differs. */
function compare<T extends { readonly digest: string }>(
  next: ReadonlyMap<string, T>,
  before: ReadonlyMap<string, T>,
  report: (change: Change, key: string, item: T) => void,
): void {
  for (const [key, item] of next) {
    const old = before.get(key);
    if (old === item || old?.digest === item.digest) continue;
    report(old === undefined ? 'added' : 'changed', key, item);
  }
  for (const [key, item] of before) if (!next.has(key)) report('removed', key, item);
}

/** By kind and name; the n-th of a name keeps its number, since sections need not have distinct names. */
function bySection(sections: readonly Section[]): ReadonlyMap<string, Section> {
  const found = new Map<string, Section>();
  for (const section of sections) {
    if (section.kind === 'stamp') continue;
    let key = `${section.kind}\0${section.name}`;
    while (found.has(key)) key += '\0';
    found.set(key, section);
  }
  return found;
}

function sectionReason(change: Change, { kind, name }: Section): string {
  return kind === 'profile' && change === 'added' ? `profile_new:${name}` : `${kind}_${change}:${name}`;
}

function sectionReasons(next: readonly Section[], before: readonly Section[]): readonly string[] {
  if (next === before) return [];
  const reasons: string[] = [];
  const a = bySection(next);
  const b = bySection(before);
  compare(a, b, (change, _key, section) => reasons.push(sectionReason(change, section)));
  return reasons;
}

function byPath(files: readonly FileEntry[]): ReadonlyMap<string, FileEntry> {
  return new Map(files.map((file) => [file.path, file]));
}

/** Why the pod's files differ; the main configuration is told of by its sections. */
function fileReasons(next: RenderPlan, before: RenderPlan): readonly string[] {
  const reasons: string[] = [];
  compare(byPath(next.files), byPath(before.files), (change, path, { kind }) => {
    if (kind !== 'config') reasons.push(`${kind}_${change}:${path}`);
  });
  return reasons;
}

function missingFiles(next: RenderPlan, before: RenderPlan): readonly FileEntry[] {
  const present = byPath(before.files);
  return next.files.filter(({ path, digest }) => present.get(path)?.digest !== digest);
}

function reload(pod: string, reasons: readonly string[], files: readonly FileEntry[]): DeployPlan {
  const more = reasons.length - LISTED_REASONS;
  const listed = more > 0 ? [...reasons.slice(0, LISTED_REASONS), `more:${more}`] : reasons;
  return { pod, mode: 'reload', reasons: listed, files };
}

/** How a pod gets from what it runs to the next plan. Pure. What is not known of a pod is sent and loaded, never refused. */
export function diff({ next, pod }: PlanInput): DeployPlan {
  const { name, baseline } = pod;
  if (baseline === undefined) return reload(name, ['baseline_unknown'], next.files);
  if (baseline.schema !== next.schema)
    return reload(name, [`baseline_schema:${baseline.schema as number}`], next.files);
  if (baseline.id === next.id) return { pod: name, mode: 'noop', reasons: [], files: [] };
  const reasons = [...sectionReasons(next.sections, baseline.sections), ...fileReasons(next, baseline)];
  // Ids differ without one part that does: an order, a bind or a flag.
  return reload(name, reasons.length === 0 ? ['layout_changed'] : reasons, missingFiles(next, baseline));
}
