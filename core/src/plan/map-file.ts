import { didYouMean, type MapContent, type MapFile, type MapMatch } from '../contract/index.ts';
import { readPrefix } from '../templates/names/ip.ts';
import type { EntryDeclaration } from '../templates/output.ts';
import { mapEntryRefusal } from '../templates/runtime/map-entry.ts';
import { byteLength, type TextFacts } from './hash.ts';
import type { PlanMemo } from './memo.ts';
import type { Problems } from './problems.ts';
import { sameEntries, sameEntry } from './same-declaration.ts';
import { differing, type Window } from './window.ts';

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

/** Why a line of the map cannot say this. Templates refuse most of it already, with the place; here it is refused for good. */
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

function lineOf({ key, value }: EntryDeclaration): string {
  return `${key} ${value}\n`;
}

function tupleOf({ key, value }: EntryDeclaration): MapFile['entries'][number] {
  return Object.freeze([key, value] as const);
}

interface Parts {
  readonly declared: readonly EntryDeclaration[];
  readonly written: readonly EntryDeclaration[];
  readonly entries: MapFile['entries'];
  readonly text: string;
  /** Bytes. */
  readonly length: number;
}

function built(content: MapContent, parts: Parts, memo: PlanMemo): BuiltMap {
  const { match, layer, secret } = content;
  const { declared, written, text, length } = parts;
  const digest = memo.hash(text);
  const entries = Object.freeze(parts.entries);
  const file: MapFile = Object.freeze({ match, layer, secret, entries, digest });
  return { digest, length, content, declared, written, text, file };
}

function buildAnew(
  name: string,
  content: MapContent,
  declared: readonly EntryDeclaration[],
  memo: PlanMemo,
  problems: Problems,
): BuiltMap {
  const written = isUnordered(content.match) ? declared.toSorted(byKey) : declared;
  check(name, content, written, problems);
  const text = written.map(lineOf).join('');
  return built(
    content,
    { declared, written, entries: written.map(tupleOf), text, length: byteLength(text) },
    memo,
  );
}

/** Where an entry of this key stands, or would. */
function placeOf(key: string, written: readonly EntryDeclaration[]): number {
  let low = 0;
  let high = written.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (written[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Edit {
  readonly at: number;
  /** Undefined: the entry that stands there goes. */
  readonly insert?: EntryDeclaration;
}

/** More than this and building anew is no slower. */
const MOST_EDITS = 200;

/** What is new and what goes, each by key; undefined where a key is there twice. */
function changedKeys({
  next,
  before,
}: Window<EntryDeclaration>):
  { readonly fresh: readonly EntryDeclaration[]; readonly gone: ReadonlySet<string> } | undefined {
  const former = new Map(before.map((entry) => [entry.key, entry]));
  const keys = new Set(next.map(({ key }) => key));
  if (keys.size < next.length) return undefined;
  const isFresh = (entry: EntryDeclaration): boolean => {
    const old = former.get(entry.key);
    return old === undefined || !sameEntry(old, entry);
  };
  const fresh = next.filter(isFresh).sort(byKey);
  const replaced = new Set(fresh.map(({ key }) => key));
  const gone = before.map(({ key }) => key).filter((key) => !keys.has(key) || replaced.has(key));
  return { fresh, gone: new Set(gone) };
}

/** How the entries of before become these; undefined where something may be wrong, or too much is new. */
function editsOf(known: BuiltMap, declared: readonly EntryDeclaration[]): readonly Edit[] | undefined {
  const changed = changedKeys(differing(declared, known.declared, sameEntry));
  if (changed === undefined || changed.fresh.length + changed.gone.size > MOST_EDITS) return undefined;
  const { fresh, gone } = changed;
  const edits: Edit[] = [...gone].map((key) => ({ at: placeOf(key, known.written) }));
  for (const insert of fresh) {
    const { key, value } = insert;
    const at = placeOf(key, known.written);
    const isTwice = known.written[at]?.key === key && !gone.has(key);
    if (isTwice || entryFault(key, value, known.content) !== undefined) return undefined;
    edits.push({ at, insert });
  }
  return edits.sort((a, b) => a.at - b.at);
}

function edited(known: BuiltMap, declared: readonly EntryDeclaration[], edits: readonly Edit[]): Parts {
  const written: EntryDeclaration[] = [];
  const entries: MapFile['entries'][number][] = [];
  const texts: string[] = [];
  let at = 0;
  let offset = 0;
  let { length } = known;
  const keepUntil = (end: number): void => {
    const from = offset;
    for (; at < end; at++) {
      const entry = known.written[at]!;
      written.push(entry);
      entries.push(known.file.entries[at]!);
      offset += entry.key.length + entry.value.length + 2;
    }
    texts.push(known.text.slice(from, offset));
  };
  for (const { at: place, insert } of edits) {
    keepUntil(place);
    if (insert === undefined) {
      const line = lineOf(known.written[at++]!);
      offset += line.length;
      length -= byteLength(line);
      continue;
    }
    written.push(insert);
    entries.push(tupleOf(insert));
    const line = lineOf(insert);
    texts.push(line);
    length += byteLength(line);
  }
  keepUntil(known.written.length);
  return { declared, written, entries, text: texts.join(''), length };
}

/** From what was built of the declarations before, where that is less work. */
function build(
  name: string,
  content: MapContent,
  declared: readonly EntryDeclaration[],
  memo: PlanMemo,
  problems: Problems,
): BuiltMap {
  const known = memo.maps.get(name);
  if (known === undefined || known.content !== content) {
    return buildAnew(name, content, declared, memo, problems);
  }
  if (sameEntries(known.declared, declared)) return known;
  const edits = isUnordered(content.match) ? editsOf(known, declared) : undefined;
  if (edits === undefined) return buildAnew(name, content, declared, memo, problems);
  return built(content, edited(known, declared, edits), memo);
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
  const maps = new Map<string, BuiltMap>();
  for (const [name, list] of declared) {
    const { count } = problems;
    const map = build(name, contents[name]!, list, memo, problems);
    if (problems.count === count) memo.maps.set(name, map);
    maps.set(name, map);
  }
  for (const name of memo.maps.keys()) if (!declared.has(name)) memo.maps.delete(name);
  return maps;
}
