import type { Backend, RenderPlan } from '../contract/index.ts';
import type { EntryDeclaration } from '../templates/output.ts';
import type { BuiltBackend, BuiltProfile, BuiltSection } from './backend-section.ts';
import { frozenRecord } from '../values/frozen-record.ts';
import { byteLength, type Hash } from './hash.ts';
import { coreDigest, PROVENANCE } from './retained-profiles.ts';
import { layoutOf, type Built, type LaidOut, type Layout } from './sections.ts';

/** The map that tells which spare backend serves under a backend's name. */
export const SPARES_MAP = 'spares';

export interface SpareOptions {
  /** Of each profile. */
  readonly count: number;
  /** The plan that is to be left without a reload. */
  readonly current: RenderPlan | undefined;
  readonly hash: Hash;
}

/** Names of spare backends by the names of those that they serve for. */
type Seats = ReadonlyMap<string, string>;

function spareName(profile: string, number: number): string {
  return `spare-${profile}-${number}`;
}

/** Changes only when its backend does, so that sections that say the same are the identical objects. */
const seatedBackends = new WeakMap<BuiltBackend, BuiltBackend>();

/** The backend as a spare one holds it: all but the name, whose lines differ in length only by it. */
function seated(built: BuiltBackend, name: string, spare: string, hash: Hash): BuiltBackend {
  const known = seatedBackends.get(built);
  if (known?.section.name === spare) return known;
  const servers = built.text.slice(built.text.indexOf('\n', built.text.indexOf('\n') + 1) + 1);
  const text = headOf(spare, built.record.profile) + servers;
  const digest = hash(text);
  const section = Object.freeze({ ...built.section, name: spare, digest, length: byteLength(text) });
  const record = Object.freeze({ ...built.record, guid: `be:${spare}`, spareFor: name, digest });
  const fresh = { ...built, section, text, record };
  seatedBackends.set(built, fresh);
  return fresh;
}

function headOf(spare: string, profile: string): string {
  return `backend ${spare} from ${profile}\n    guid be:${spare}\n`;
}

function modeOf({ text }: BuiltProfile): Backend['mode'] {
  return /^ {4}mode tcp$/m.test(text) ? 'tcp' : 'http';
}

interface Empty extends BuiltSection {
  readonly record: Backend;
}

const emptyBackends = new WeakMap<BuiltProfile, Map<string, Empty>>();

function empty(profile: BuiltProfile, spare: string, hash: Hash): Empty {
  let known = emptyBackends.get(profile);
  if (known === undefined) emptyBackends.set(profile, (known = new Map<string, Empty>()));
  const found = known.get(spare);
  if (found !== undefined) return found;
  const { name } = profile.section;
  const text = headOf(spare, name);
  const digest = hash(text);
  const section = Object.freeze({
    kind: 'backend' as const,
    name: spare,
    digest,
    length: byteLength(text),
    provenance: PROVENANCE,
  });
  const record: Backend = Object.freeze({
    profile: name,
    mode: modeOf(profile),
    guid: `be:${spare}`,
    shape: 'dynamic',
    spareFor: '',
    servers: Object.freeze([]),
    digest,
  });
  const fresh = { section, text, record };
  known.set(spare, fresh);
  return fresh;
}

/** Spare backends of a plan: who sits where, and which are free for good: one that was left just now may still be in use. */
function seatsOf(
  { backends }: RenderPlan,
  spares: ReadonlySet<string>,
): { readonly seats: Map<string, string>; readonly free: Set<string> } {
  const seats = new Map<string, string>();
  const free = new Set<string>();
  for (const spare of spares) {
    const record = Object.hasOwn(backends, spare) ? backends[spare] : undefined;
    if (record?.spareFor === '') free.add(spare);
    else if (record?.spareFor !== undefined) seats.set(record.spareFor, spare);
  }
  return { seats, free };
}

/** Whether the backend is in the plan under its own name, as it is. */
function standsIn({ backends }: RenderPlan, name: string, { profile, shape }: Backend): boolean {
  const record = Object.hasOwn(backends, name) ? backends[name] : undefined;
  return record?.profile === profile && record.shape === shape && record.spareFor === undefined;
}

function namesOfSpares(profiles: Iterable<string>, count: number): ReadonlySet<string> {
  const names = new Set<string>();
  for (const profile of profiles) {
    for (let number = 1; number <= count; number++) names.add(spareName(profile, number));
  }
  return names;
}

/**
 * Who sits where, if that spares a reload. Where one is due anyway nobody sits anywhere: it gives everybody a place of their own.
 */
function findSeats(
  { pieces, built, core, profiles }: LaidOut,
  { count, current, hash }: SpareOptions,
): Seats {
  const none: Seats = new Map();
  if (current === undefined || coreDigest(current.sections, hash) !== core) return none;
  const before = seatsOf(current, namesOfSpares(Object.keys(current.profiles), count));
  const free = [...before.free];
  const seats = new Map<string, string>();
  const names = new Set<string>();
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== 'backend') continue;
    const { record } = built[index] as BuiltBackend;
    names.add(piece.name);
    if (standsIn(current, piece.name, record)) continue;
    const isChanged = Object.hasOwn(current.backends, piece.name);
    if (isChanged || record.shape === 'static' || !profiles.has(record.profile)) return none;
    const prefix = `spare-${record.profile}-`;
    const old = before.seats.get(piece.name);
    const isKept = old?.startsWith(prefix) === true;
    const at = isKept ? -1 : free.findIndex((spare) => spare.startsWith(prefix));
    const seat = isKept ? old : free.splice(at, at === -1 ? 0 : 1)[0];
    if (seat === undefined) return none;
    seats.set(piece.name, seat);
  }
  const spares = namesOfSpares(Object.keys(current.profiles), count);
  const isGone = (name: string): boolean => !names.has(name) && !spares.has(name);
  return Object.keys(current.backends).some(isGone) ? none : seats;
}

/** The layout with spare backends in it, and the entries that lead to those that are taken. */
export function seatBackends(
  laidOut: LaidOut,
  options: SpareOptions,
): { readonly layout: Layout; readonly entries: readonly EntryDeclaration[] } {
  const { pieces, built, profiles, names } = laidOut;
  const { count, hash } = options;
  const seats = findSeats(laidOut, options);
  const taken = new Set(seats.values());
  const entries: EntryDeclaration[] = [];
  const seatedBuilt = pieces.map((piece, index): Built => {
    const seat = piece.kind === 'backend' ? seats.get(piece.name) : undefined;
    if (piece.kind !== 'backend' || seat === undefined) return built[index];
    entries.push({ map: SPARES_MAP, key: piece.name, value: seat, provenance: piece.provenance });
    return seated(built[index] as BuiltBackend, piece.name, seat, hash);
  });
  const empties = [...profiles.values()].flatMap((profile) =>
    [...namesOfSpares([profile.section.name], count)]
      .filter((spare) => !taken.has(spare) && !names.has(spare))
      .map((spare) => empty(profile, spare, hash)),
  );
  const layout = layoutOf(pieces, seatedBuilt, profiles);
  return {
    layout: {
      ...layout,
      sections: [...layout.sections, ...empties],
      backends: frozenRecord([
        ...Object.entries(layout.backends),
        ...empties.map(({ section, record }) => [section.name, record] as const),
      ]),
    },
    entries,
  };
}
