import { Bug, type Profile } from '../contract/index.ts';
import type { Piece } from '../templates/output.ts';
import type { BuiltProfile } from './backend-section.ts';
import { frozenRecord } from '../values/frozen-record.ts';
import type { Problems } from './problems.ts';

export type BuiltProfiles = ReadonlyMap<string, BuiltProfile>;

/** Index of `{% profiles %}`; -1 without one. */
export function placeOfProfiles(pieces: readonly Piece[], problems: Problems): number {
  const places = pieces.flatMap((piece, index) => (piece.kind === 'profiles' ? [index] : []));
  for (const index of places.slice(1)) {
    problems.add(pieces[index]!.provenance, '{% profiles %} stands here for the second time');
  }
  return places[0] ?? -1;
}

/** In order of first use, then those that are only kept. */
export function profilesOf(
  built: readonly ({ readonly profile?: BuiltProfile | undefined } | undefined)[],
  retained: readonly BuiltProfile[],
): BuiltProfiles {
  const profiles = new Map<string, BuiltProfile>();
  let last: BuiltProfile['section'] | undefined;
  for (const item of built) {
    const profile = item?.profile;
    // Neighbours mostly have one profile.
    if (profile === undefined || profile.section.name === last?.name) continue;
    last = profile.section;
    const known = profiles.get(last.name);
    if (known === undefined) profiles.set(last.name, profile);
    else if (known.section.digest !== last.digest) throw new Bug(`two profiles are named ${last.name}`);
  }
  for (const profile of retained) {
    if (!profiles.has(profile.section.name)) profiles.set(profile.section.name, profile);
  }
  return profiles;
}

export function profileRecords(profiles: BuiltProfiles): Readonly<Record<string, Profile>> {
  return frozenRecord(
    [...profiles].map(([name, { section, base }]) => [name, Object.freeze({ digest: section.digest, base })]),
  );
}
