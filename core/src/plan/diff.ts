import type { DeployPlan, FileEntry, PlanInput, RenderPlan, Section } from '../contract/index.ts';

/** More reasons than this say nothing new; the rest is counted. */
const LISTED_REASONS = 64;

type Change = 'added' | 'changed' | 'removed';

/** Calls back for every key whose digest differs. */
function compare<T extends { readonly digest: string }>(
  next: ReadonlyMap<string, T>,
  before: ReadonlyMap<string, T>,
  report: (change: Change, item: T) => void,
): void {
  for (const [key, item] of next) {
    const old = before.get(key);
    if (old?.digest === item.digest) continue;
    report(old === undefined ? 'added' : 'changed', item);
  }
  for (const [key, item] of before) if (!next.has(key)) report('removed', item);
}

/**
 * Both lists without what they begin and end with alike: the rest is short after a small change, and only the rest is compared by
 * name.
 */
function trimmed<T>(
  a: readonly T[],
  b: readonly T[],
  same: (a: T, b: T) => boolean,
): readonly [readonly T[], readonly T[]] {
  const shorter = Math.min(a.length, b.length);
  let start = 0;
  while (start < shorter && same(a[start]!, b[start]!)) start++;
  let end = 0;
  while (end < shorter - start && same(a[a.length - 1 - end]!, b[b.length - 1 - end]!)) end++;
  return [a.slice(start, a.length - end), b.slice(start, b.length - end)];
}

function sameSection(a: Section, b: Section): boolean {
  return a === b || (a.digest === b.digest && a.kind === b.kind && a.name === b.name);
}

function sameFile(a: FileEntry, b: FileEntry): boolean {
  return a === b || (a.digest === b.digest && a.path === b.path);
}

/** By kind and name; the n-th of a name keeps its number, since sections need not have distinct names. */
function bySection(sections: readonly Section[]): ReadonlyMap<string, Section> {
  const found = new Map<string, Section>();
  for (const section of sections) {
    let key = `${section.kind}\0${section.name}`;
    while (found.has(key)) key += '\0';
    found.set(key, section);
  }
  return found;
}

function sectionReason(change: Change, { kind, name }: Section): string {
  return kind === 'profile' && change === 'added' ? `profile_new:${name}` : `${kind}_${change}:${name}`;
}

function withoutStamp(sections: readonly Section[]): readonly Section[] {
  return sections.filter(({ kind }) => kind !== 'stamp');
}

function sectionReasons(next: RenderPlan, before: RenderPlan): readonly string[] {
  const reasons: string[] = [];
  const [a, b] = trimmed(withoutStamp(next.sections), withoutStamp(before.sections), sameSection);
  compare(bySection(a), bySection(b), (change, section) => reasons.push(sectionReason(change, section)));
  return reasons;
}

function byPath(files: readonly FileEntry[]): ReadonlyMap<string, FileEntry> {
  return new Map(files.map((file) => [file.path, file]));
}

/** Why the pod's files differ; the main configuration is told of by its sections. */
function fileReasons(next: RenderPlan, before: RenderPlan): readonly string[] {
  const reasons: string[] = [];
  const [a, b] = trimmed(next.files, before.files, sameFile);
  compare(byPath(a), byPath(b), (change, { kind, path }) => {
    if (kind !== 'config') reasons.push(`${kind}_${change}:${path}`);
  });
  return reasons;
}

function missingFiles(next: RenderPlan, before: RenderPlan): readonly FileEntry[] {
  const [a, b] = trimmed(next.files, before.files, sameFile);
  const present = byPath(b);
  return a.filter(({ path, digest }) => present.get(path)?.digest !== digest);
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
  const reasons = [...sectionReasons(next, baseline), ...fileReasons(next, baseline)];
  // Ids differ without one part that does: an order, a bind or a flag.
  return reload(name, reasons.length === 0 ? ['layout_changed'] : reasons, missingFiles(next, baseline));
}
