import type { Backend, Digest, Profile, Provenance } from '../contract/index.ts';
import type { BackendPiece, Piece } from '../templates/output.ts';
import { buildBackend, type BuiltBackend, type BuiltProfile, type BuiltSection } from './backend-section.ts';
import { buildCore, type BuiltCore } from './core-section.ts';
import { DefaultsByName } from './defaults-by-name.ts';
import { frozenRecord } from '../values/frozen-record.ts';
import type { PlanMemo } from './memo.ts';
import { Problems } from './problems.ts';
import { coreDigest, keptProfiles, type Keeping } from './retained-profiles.ts';
import { placeOfProfiles, profileRecords, profilesOf, type BuiltProfiles } from './profiles.ts';
import { samePiece } from './same-declaration.ts';
import { differing, type Window } from './window.ts';

/** The ordered partition of `haproxy.cfg`, its stamp excepted. */
export interface Layout {
  readonly sections: readonly BuiltSection[];
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly backends: Readonly<Record<string, Backend>>;
}

/** What a piece was built into; nothing for the place of the profiles. */
export type Built = (BuiltCore & { readonly profile?: undefined }) | BuiltBackend | undefined;

/** A layout without a problem, and what it was made from. */
export interface LaidOut {
  readonly pieces: readonly Piece[];
  /** By index of `pieces`. */
  readonly built: readonly Built[];
  readonly defaults: DefaultsByName;
  /** Index of the place of the profiles. */
  readonly place: number;
  /** Of the core sections. */
  readonly core: Digest;
  /** Profiles that stay whether or not a backend has them. */
  readonly retained: readonly BuiltProfile[];
  readonly profiles: BuiltProfiles;
  /** Of all proxies. Moves on to the next layout. */
  readonly names: Set<string>;
  readonly layout: Layout;
}

/** HAProxy knows proxies by their names alone, whatever their kind. */
function claimNames(
  pieces: readonly Piece[],
  built: readonly Built[],
  profiles: BuiltProfiles,
  problems: Problems,
): Set<string> {
  const seen = new Map<string, Provenance>();
  const claim = (name: string, provenance: Provenance): void => {
    const first = seen.get(name);
    if (first === undefined) seen.set(name, provenance);
    else problems.twice(`proxy "${name}"`, first, provenance);
  };
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'backend') claim(piece.name, piece.provenance);
    if (piece.kind !== 'section') continue;
    for (const { name, provenance } of (built[index] as BuiltCore).proxies) {
      if (name !== '') claim(name, provenance);
    }
  }
  for (const { section } of profiles.values()) claim(section.name, section.provenance);
  return new Set(seen.keys());
}

export function layoutOf(pieces: readonly Piece[], built: readonly Built[], profiles: BuiltProfiles): Layout {
  const sections: BuiltSection[] = [];
  const backends: (readonly [string, Backend])[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'profiles') sections.push(...profiles.values());
    else sections.push(built[index]!);
    if (piece.kind !== 'backend') continue;
    const { section, record } = built[index] as BuiltBackend;
    backends.push([section.name, record]);
  }
  return { sections, profiles: profileRecords(profiles), backends: frozenRecord(backends) };
}

/** What was built last time, by kind and name. */
type Before = ReadonlyMap<string, { readonly piece: Piece; readonly value: Built }>;

function keyOf(piece: Piece): string {
  return piece.kind === 'profiles' ? '' : `${piece.kind} ${piece.name}`;
}

function builtBefore(known: LaidOut | undefined): Before {
  if (known === undefined) return new Map();
  return new Map(known.pieces.map((piece, index) => [keyOf(piece), { piece, value: known.built[index] }]));
}

/** Undefined where nothing of this piece's name was built from the like. */
function reuse(piece: Piece, before: Before): Built {
  const known = before.get(keyOf(piece));
  return known !== undefined && samePiece(known.piece, piece) ? known.value : undefined;
}

function buildCores(
  pieces: readonly Piece[],
  built: Built[],
  before: Before,
  { memo, problems }: { readonly memo: PlanMemo; readonly problems: Problems },
): DefaultsByName {
  const defaults = new DefaultsByName();
  const cores: BuiltCore[] = [];
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== 'section') continue;
    const core = (reuse(piece, before) as BuiltCore | undefined) ?? buildCore(piece, memo, problems);
    built[index] = core;
    cores.push(core);
    for (const line of core.proxies) defaults.add(line);
  }
  for (const { proxies } of cores) {
    for (const line of proxies) defaults.check(line, `${line.kind} "${line.name}"`, problems);
  }
  return defaults;
}

function buildBackends(
  { pieces, defaults, place }: Pick<LaidOut, 'pieces' | 'defaults' | 'place'>,
  built: Built[],
  before: Before,
  { memo, problems }: { readonly memo: PlanMemo; readonly problems: Problems },
): void {
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== 'backend') continue;
    const harm = defaults.harm(piece.from);
    const known = reuse(piece, before) as BuiltBackend | undefined;
    const isCurrent = known?.base.backend === harm.backend && known?.base.servers === harm.servers;
    const backend = known !== undefined && isCurrent ? known : buildBackend(piece, harm, memo, problems);
    built[index] = backend;
    defaults.check(piece, `backend "${piece.name}"`, problems);
    if (backend.profile === undefined || (place !== -1 && place < index)) continue;
    const fault = place === -1 ? 'a {% profiles %} is needed' : '{% profiles %} must stand';
    problems.add(
      piece.provenance,
      `${fault} before backend "${piece.name}": its directives are written there`,
    );
  }
}

function layOutAnew(pieces: readonly Piece[], keeping: Keeping, memo: PlanMemo, problems: Problems): LaidOut {
  const built: Built[] = Array.from({ length: pieces.length });
  const before = builtBefore(memo.layout);
  const tools = { memo, problems };
  const defaults = buildCores(pieces, built, before, tools);
  const place = placeOfProfiles(pieces, problems);
  buildBackends({ pieces, defaults, place }, built, before, tools);
  const core = coreDigest(
    built.flatMap((item) => item?.section ?? []),
    memo.hash,
  );
  const retained = place === -1 ? [] : keptProfiles(keeping, core, memo.hash);
  const profiles = profilesOf(built, retained);
  const names = claimNames(pieces, built, profiles, problems);
  const layout = layoutOf(pieces, built, profiles);
  return { pieces, built, defaults, place, core, retained, profiles, names, layout };
}

/** What the pieces of a window become; undefined where they are no backends, or something is wrong with one. */
function buildWindow(
  { next, before, start }: Window<Piece>,
  known: LaidOut,
  memo: PlanMemo,
): readonly BuiltBackend[] | undefined {
  if (![...next, ...before].every(({ kind }) => kind === 'backend')) return undefined;
  const former = new Map(before.map((piece, index) => [(piece as BackendPiece).name, start + index]));
  const problems = new Problems();
  const fresh: BuiltBackend[] = [];
  for (const piece of next as readonly BackendPiece[]) {
    const index = former.get(piece.name);
    if (index !== undefined && samePiece(known.pieces[index]!, piece)) {
      fresh.push(known.built[index] as BuiltBackend);
      continue;
    }
    if (!known.defaults.has(piece.from)) return undefined;
    const backend = buildBackend(piece, known.defaults.harm(piece.from), memo, problems);
    if (backend.profile !== undefined && (known.place === -1 || known.place >= start)) return undefined;
    fresh.push(backend);
  }
  return problems.count === 0 ? fresh : undefined;
}

/** The names of proxies that come and go; undefined where one would be there twice. */
function renamed(
  { next, before }: Window<Piece>,
  profiles: BuiltProfiles,
  known: LaidOut,
): { readonly come: ReadonlySet<string>; readonly gone: ReadonlySet<string> } | undefined {
  const gone = new Set(before.map((piece) => (piece as BackendPiece).name));
  for (const name of known.profiles.keys()) if (!profiles.has(name)) gone.add(name);
  const added = [...profiles.keys()].filter((name) => !known.profiles.has(name));
  const names = [...next.map((piece) => (piece as BackendPiece).name), ...added];
  const come = new Set(names);
  const isTaken = (name: string): boolean => known.names.has(name) && !gone.has(name);
  return come.size < names.length || names.some(isTaken) ? undefined : { come, gone };
}

/** A layout in which nothing but backends is other than before; undefined where that is not so, or something is wrong. */
function layOutChanges(
  pieces: readonly Piece[],
  keeping: Keeping,
  known: LaidOut,
  memo: PlanMemo,
): LaidOut | undefined {
  const window = differing(pieces, known.pieces, samePiece);
  const retained = known.place === -1 ? [] : keptProfiles(keeping, known.core, memo.hash);
  const keepsSame =
    retained.length === known.retained.length &&
    retained.every((profile, index) => profile === known.retained[index]);
  if (window.next.length + window.before.length === 0 && keepsSame) return known;
  const fresh = buildWindow(window, known, memo);
  if (fresh === undefined) return undefined;
  const built = known.built.toSpliced(window.start, window.before.length, ...fresh);
  const profiles = profilesOf(built, retained);
  const names = renamed(window, profiles, known);
  if (names === undefined) return undefined;
  for (const name of names.gone) known.names.delete(name);
  for (const name of names.come) known.names.add(name);
  const moved = known.place < window.start ? 0 : pieces.length - known.pieces.length;
  const place = known.place + moved;
  const layout = layoutOf(pieces, built, profiles);
  return { ...known, pieces, built, retained, profiles, place, layout };
}

/** Puts pieces in the order of the file and checks what only the whole can tell. */
export function layOut(
  pieces: readonly Piece[],
  keeping: Keeping,
  memo: PlanMemo,
  problems: Problems,
): LaidOut {
  const changed = memo.layout && layOutChanges(pieces, keeping, memo.layout, memo);
  const { count } = problems;
  const laidOut = changed ?? layOutAnew(pieces, keeping, memo, problems);
  if (problems.count === count) memo.layout = laidOut;
  return laidOut;
}
