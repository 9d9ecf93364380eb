import { didYouMean, type MapContent, type MapFile, type MapMatch } from '../contract/index.ts';
import { readPrefix } from '../templates/names/ip.ts';
import type { EntryDeclaration } from '../templates/output.ts';
import { mapEntryRefusal } from '../templates/runtime/map-entry.ts';
import type { TextFacts } from './hash.ts';
import type { PlanMemo } from './memo.ts';
import type { Problems } from './problems.ts';
import { sameEntries } from './same-declaration.ts';

/** Kinds that HAProxy looks up in a tree; the others are searched from top to bottom. */
const UNORDERED: ReadonlySet<MapMatch> = new Set(['beg', 'ip', 'str']);

export function isUnordered(match: MapMatch): boolean {
  return UNORDERED.has(match);
}

export interface BuiltMap extends TextFacts {
  readonly content: MapContent;
  /** As declared. */
  readonly declared: readonly EntryDeclaration[];
  /** As written, one a line. */
  readonly written: readonly EntryDeclaration[];
  readonly text: string;
  readonly file: MapFile;
}

function byKey(a: EntryDeclaration, b: EntryDeclaration): number {
  return a.key < b.key ? -1 : Number(a.key > b.key);
}

/** Why a line of the map can not say this. Templates refuse most of it already, with the place; here it is refused for good. */
function entryFault(key: string, value: string, content: MapContent): string | undefined {
  const why = mapEntryRefusal(content, key, value);
  if (why !== undefined || content.match !== 'ip' || readPrefix(key) !== undefined) return why;
  return 'the key is no IP address or network';
}

function shown(key: string, { secret }: MapContent): string {
  return secret ? '' : ` ${JSON.stringify(key.slice(0, 200))}`;
}

function check(
  name: string,
  content: MapContent,
  written: readonly EntryDeclaration[],
  problems: Problems,
): void {
  const twice = (first: EntryDeclaration, { key, provenance }: EntryDeclaration): void =>
    problems.twice(`key${shown(key, content)} of map "${name}"`, first.provenance, provenance);
  for (const { key, value, provenance } of written) {
    const fault = entryFault(key, value, content);
    if (fault !== undefined)
      problems.add(provenance, `entry${shown(key, content)} of map "${name}": ${fault}`);
  }
  if (isUnordered(content.match)) {
    // Sorted by key and stable: those of one key stand together, in order of declaration.
    written.forEach(
      (entry, at) => at > 0 && written[at - 1]!.key === entry.key && twice(written[at - 1]!, entry),
    );
    return;
  }
  const seen = new Map<string, EntryDeclaration>();
  for (const entry of written) {
    const first = seen.get(entry.key);
    if (first === undefined) seen.set(entry.key, entry);
    else twice(first, entry);
  }
}

function build(
  name: string,
  content: MapContent,
  declared: readonly EntryDeclaration[],
  memo: PlanMemo,
  problems: Problems,
): BuiltMap {
  const { match, layer, secret } = content;
  const written = isUnordered(match) ? declared.toSorted(byKey) : declared;
  check(name, content, written, problems);
  const text = written.map(({ key, value }) => `${key} ${value}\n`).join('');
  const facts = memo.factsOf(text);
  const entries = Object.freeze(written.map(({ key, value }) => Object.freeze([key, value] as const)));
  const file: MapFile = Object.freeze({ match, layer, secret, entries, digest: facts.digest });
  return { ...facts, content, declared, written, text, file };
}

/** All configured maps by name: one without entries is an empty file, since the configuration names it all the same. */
export function buildMaps(
  contents: Readonly<Record<string, MapContent>>,
  entries: readonly EntryDeclaration[],
  memo: PlanMemo,
  problems: Problems,
): ReadonlyMap<string, BuiltMap> {
  const declared = new Map<string, EntryDeclaration[]>(Object.keys(contents).map((name) => [name, []]));
  for (const entry of entries) {
    const list = declared.get(entry.map);
    if (list !== undefined) list.push(entry);
    else {
      const hint = didYouMean(entry.map, declared.keys());
      problems.add(entry.provenance, `no map is named "${entry.map}"${hint}`);
    }
  }
  const built = new Map<string, BuiltMap>();
  for (const [name, list] of declared) {
    const content = contents[name]!;
    const known = memo.maps.get(name);
    const { count } = problems;
    const isCurrent = known !== undefined && known.content === content && sameEntries(known.declared, list);
    const map = isCurrent ? known : build(name, content, list, memo, problems);
    if (problems.count === count) memo.maps.set(name, map);
    built.set(name, map);
  }
  for (const name of memo.maps.keys()) if (!declared.has(name)) memo.maps.delete(name);
  return built;
}
