import type { RenderPlan, Section } from '../../contract/index.ts';
import { compareBackend, type Worker } from './backends.ts';
import { lookup } from './lookup.ts';
import { changeOf, differing, type Change } from '../window.ts';

function sameSection(a: Section, b: Section): boolean {
  return a === b || (a.digest === b.digest && a.kind === b.kind && a.name === b.name);
}

/** By name; the n-th of a name keeps its number, since core sections need not have distinct names. */
function byName(sections: readonly Section[], kind: Section['kind']): ReadonlyMap<string, Section> {
  const found = new Map<string, Section>();
  for (const section of sections) {
    if (section.kind !== kind) continue;
    let key = section.name;
    while (found.has(key)) key += '\0';
    found.set(key, section);
  }
  return found;
}

function compare(
  next: ReadonlyMap<string, Section>,
  before: ReadonlyMap<string, Section>,
  report: (change: Change, name: string) => void,
): void {
  for (const [key, section] of next) {
    const old = before.get(key);
    if (old?.digest !== section.digest) report(changeOf(section, old), section.name);
  }
  for (const [key, { name }] of before) if (!next.has(key)) report('removed', name);
}

function sameOrder(next: ReadonlyMap<string, Section>, before: ReadonlyMap<string, Section>): boolean {
  const names = [...before.keys()];
  return [...next.keys()].every((name, index) => name === names[index]);
}

/** What the texts of both plans say. The stamp follows from the rest. */
export function compareSections(next: RenderPlan, before: RenderPlan, worker: Worker): void {
  const { steps, isLoaded } = worker;
  const window = differing(next.sections, before.sections, (a, b) => a.kind === 'stamp' || sameSection(a, b));
  const of = (
    kind: Section['kind'],
  ): readonly [ReadonlyMap<string, Section>, ReadonlyMap<string, Section>] => [
    byName(window.next, kind),
    byName(window.before, kind),
  ];
  const cores = of('core');
  compare(...cores, (change, name) => steps.reload(`core_${change}:${name}`));
  // Of frontends and global settings the order counts; that of profiles and backends does not.
  if (cores[0].size === cores[1].size && !sameOrder(...cores)) steps.reload('layout_changed');
  compare(...of('profile'), (change, name) => {
    if (change === 'removed') steps.note(`profile_removed:${name}`);
    else if (change === 'added' && isLoaded(name)) steps.note(`profile_added:${name}`);
    else steps.reload(change === 'added' ? `profile_new:${name}` : `profile_changed:${name}`);
  });
  compare(...of('backend'), (_, name) =>
    compareBackend(name, lookup(next.backends, name), lookup(before.backends, name), worker),
  );
}
