import { Bug, didYouMean, type Backend, type Profile, type Provenance } from '../contract/index.ts';
import type { BackendPiece, Piece, SectionPiece } from '../templates/output.ts';
import { buildBackend, type BuiltBackend, type BuiltProfile, type BuiltSection } from './backend-section.ts';
import { buildCore, type BuiltCore } from './core-section.ts';
import type { PlanMemo } from './memo.ts';
import type { Problems } from './problems.ts';
import type { BaseHarm, ProxyLine } from './proxy-lines.ts';

/** The ordered partition of `haproxy.cfg`, its stamp excepted. */
export interface Layout {
  readonly sections: readonly BuiltSection[];
  readonly profiles: Readonly<Record<string, Profile>>;
  readonly backends: Readonly<Record<string, Backend>>;
}

/** `defaults` by name, and what backends must know of them. */
class DefaultsByName {
  readonly #lines = new Map<string, ProxyLine>();

  add(line: ProxyLine): void {
    if (line.kind === 'defaults') this.#lines.set(line.name, line);
  }

  check(
    proxy: { readonly from?: string; readonly provenance: Provenance },
    what: string,
    problems: Problems,
  ): void {
    if (proxy.from === undefined || this.#lines.has(proxy.from)) return;
    const hint = didYouMean(proxy.from, this.#lines.keys());
    problems.add(proxy.provenance, `${what}: no defaults section is named "${proxy.from}"${hint}`);
  }

  /** Why backends from it stay as they are until a reload; bases inherit from bases. */
  harm(name: string): BaseHarm {
    let harm: BaseHarm = {};
    const seen = new Set<string>();
    let line = this.#lines.get(name);
    while (line !== undefined && !seen.has(line.name)) {
      harm = { ...line.harm, ...harm };
      seen.add(line.name);
      line = line.from === undefined ? undefined : this.#lines.get(line.from);
    }
    return harm;
  }
}

/** HAProxy knows proxies by their names alone, whatever their kind. */
class ProxyNames {
  readonly #seen = new Map<string, Provenance>();

  claim(name: string, provenance: Provenance, problems: Problems): void {
    const first = this.#seen.get(name);
    if (first === undefined) this.#seen.set(name, provenance);
    else problems.twice(`proxy "${name}"`, first, provenance);
  }
}

function placeOfProfiles(pieces: readonly Piece[], problems: Problems): number {
  const places = pieces.flatMap((piece, index) => (piece.kind === 'profiles' ? [index] : []));
  for (const index of places.slice(1)) {
    problems.add(pieces[index]!.provenance, '{% profiles %} stands here for the second time');
  }
  return places[0] ?? -1;
}

function buildBackends(
  pieces: readonly Piece[],
  defaults: DefaultsByName,
  memo: PlanMemo,
  problems: Problems,
): ReadonlyMap<BackendPiece, BuiltBackend> {
  const built = new Map<BackendPiece, BuiltBackend>();
  const place = placeOfProfiles(pieces, problems);
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind !== 'backend') continue;
    const harm = defaults.harm(piece.from);
    const backend = memo.backends.get(
      piece,
      problems,
      () => buildBackend(piece, harm, memo, problems),
      ({ base }) => base.backend === harm.backend && base.servers === harm.servers,
    );
    built.set(piece, backend);
    defaults.check(piece, `backend "${piece.name}"`, problems);
    if (backend.profile === undefined || (place !== -1 && place < index)) continue;
    const fault = place === -1 ? 'a {% profiles %} is needed' : '{% profiles %} must stand';
    problems.add(
      piece.provenance,
      `${fault} before backend "${piece.name}": its directives are written there`,
    );
  }
  return built;
}

/** In order of first use. */
function profilesOf(backends: Iterable<BuiltBackend>): ReadonlyMap<string, BuiltProfile> {
  const profiles = new Map<string, BuiltProfile>();
  for (const { profile } of backends) {
    if (profile === undefined) continue;
    const known = profiles.get(profile.section.name);
    if (known === undefined) profiles.set(profile.section.name, profile);
    else if (known.section.digest !== profile.section.digest)
      throw new Bug(`two profiles are named ${profile.section.name}`);
  }
  return profiles;
}

/** A frozen record. Without a prototype any name is a plain one, and thousands of names are no trouble to the engine. */
export function frozenRecord<T>(entries: Iterable<readonly [string, T]>): Readonly<Record<string, T>> {
  const record = Object.create(null) as Record<string, T>;
  for (const [name, value] of entries) record[name] = value;
  return Object.freeze(record);
}

function claimNames(
  pieces: readonly Piece[],
  cores: ReadonlyMap<SectionPiece, BuiltCore>,
  profiles: ReadonlyMap<string, BuiltProfile>,
  problems: Problems,
): void {
  const names = new ProxyNames();
  for (const piece of pieces) {
    if (piece.kind === 'backend') names.claim(piece.name, piece.provenance, problems);
    if (piece.kind !== 'section') continue;
    for (const { name, provenance } of cores.get(piece)!.proxies) {
      if (name !== '') names.claim(name, provenance, problems);
    }
  }
  for (const { section } of profiles.values()) names.claim(section.name, section.provenance, problems);
}

/** Puts pieces in the order of the file and checks what only the whole can tell. */
export function layOut(pieces: readonly Piece[], memo: PlanMemo, problems: Problems): Layout {
  const cores = new Map<SectionPiece, BuiltCore>();
  const defaults = new DefaultsByName();
  for (const piece of pieces) {
    if (piece.kind !== 'section') continue;
    const core = memo.cores.get(piece, problems, () => buildCore(piece, memo, problems));
    cores.set(piece, core);
    for (const line of core.proxies) defaults.add(line);
  }
  for (const { proxies } of cores.values()) {
    for (const line of proxies) defaults.check(line, `${line.kind} "${line.name}"`, problems);
  }
  const backends = buildBackends(pieces, defaults, memo, problems);
  const profiles = profilesOf(backends.values());
  claimNames(pieces, cores, profiles, problems);
  const sections = pieces.flatMap((piece): BuiltSection | readonly BuiltSection[] => {
    if (piece.kind === 'profiles') return [...profiles.values()];
    return piece.kind === 'backend' ? backends.get(piece)! : cores.get(piece)!;
  });
  return {
    sections,
    profiles: frozenRecord(
      [...profiles].map(([name, { section, base }]) => [
        name,
        Object.freeze({ digest: section.digest, base }),
      ]),
    ),
    backends: frozenRecord([...backends].map(([{ name }, { record }]) => [name, record])),
  };
}
