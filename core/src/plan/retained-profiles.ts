import {
  MAIN_CONFIG,
  type Digest,
  type Provenance,
  type Rendered,
  type RenderPlan,
  type RetainedProfile,
  type Section,
} from '../contract/index.ts';
import type { BuiltProfile } from './backend-section.ts';
import { factsOf, type Hash } from './hash.ts';

/** Profiles of late, and when a backend last had each. */
export interface ProfileRetention {
  /** Of all that are kept, by name; the identical list while they are the same. */
  readonly profiles: readonly RetainedProfile[];
  /** Milliseconds since the epoch, by name. */
  readonly lastUse: ReadonlyMap<string, number>;
}

export const NOTHING_RETAINED: ProfileRetention = Object.freeze({ profiles: [], lastUse: new Map() });

const KEPT_MS = 24 * 60 * 60 * 1_000;
/** Unused ones at a time; who was used last stays. */
const KEPT_UNUSED = 256;

/** Identity of everything that a profile may name without a path: user lists, caches, error pages, what it inherits. */
export function coreDigest(sections: readonly Section[], hash: Hash): Digest {
  return hash(
    sections
      .filter(({ kind }) => kind === 'core')
      .map(({ digest }) => digest)
      .join('\n'),
  );
}

function usedProfiles({ backends }: RenderPlan): ReadonlySet<string> {
  return new Set(Object.values(backends).map(({ profile }) => profile));
}

type Text = Pick<RetainedProfile, 'text' | 'secret'>;

function readTexts({ plan, files }: Rendered, wanted: ReadonlySet<string>): ReadonlyMap<string, Text> {
  const texts = new Map<string, Text>();
  if (wanted.size === 0) return texts;
  const bytes = files.read(MAIN_CONFIG);
  let at = 0;
  for (const { kind, name, length, secret = false } of plan.sections) {
    if (kind === 'profile' && wanted.has(name)) {
      texts.set(name, { text: new TextDecoder().decode(bytes.subarray(at, at + length)), secret });
    }
    at += length;
  }
  return texts;
}

/** The newest uses first, within time and number. */
function kept(
  lastUse: ReadonlyMap<string, number>,
  used: ReadonlySet<string>,
  now: number,
): ReadonlySet<string> {
  const unused = [...lastUse]
    .filter(([name, at]) => !used.has(name) && now - at < KEPT_MS)
    .sort(([a, atA], [b, atB]) => atB - atA || (a < b ? -1 : 1))
    .slice(0, KEPT_UNUSED);
  return new Set([...used, ...unused.map(([name]) => name)]);
}

/**
 * What to keep once this was published. Time only decides here, so it changes what the next render sees, never how it renders.
 *
 * @param now Milliseconds since the epoch.
 */
export function retainProfiles(
  previous: ProfileRetention,
  rendered: Rendered,
  now: number,
  hash: Hash,
): ProfileRetention {
  const { plan } = rendered;
  const inFile = Object.keys(plan.profiles);
  const used = usedProfiles(plan);
  const inUse = new Set(inFile.filter((name) => used.has(name)));
  const lastUse = new Map([...previous.lastUse, ...[...inUse].map((name) => [name, now] as const)]);
  const stays = kept(lastUse, inUse, now);
  for (const name of lastUse.keys()) if (!stays.has(name)) lastUse.delete(name);
  const core = coreDigest(plan.sections, hash);
  const known = new Map(previous.profiles.map((profile) => [profile.name, profile]));
  const isCurrent = (name: string): boolean => known.get(name)?.core === core || !inUse.has(name);
  if (stays.size === known.size && [...stays].every((name) => known.has(name) && isCurrent(name))) {
    return { profiles: previous.profiles, lastUse };
  }
  const texts = readTexts(rendered, new Set([...stays].filter((name) => !known.has(name))));
  const profiles = [...stays].sort().map((name): RetainedProfile => {
    const old = known.get(name);
    if (old !== undefined && isCurrent(name)) return old;
    const { text, secret } = old ?? texts.get(name)!;
    return Object.freeze({ name, base: plan.profiles[name]!.base, text, secret, core });
  });
  return { profiles: Object.freeze(profiles), lastUse };
}

/** Of what nobody declared. */
export const PROVENANCE: Provenance = Object.freeze({
  snippet: 'profiles',
  source: 'core',
  line: 1,
  objects: Object.freeze([]),
});

/** Whether something is about a profile that no backend has any more. */
export function isOfRetainedProfile({ snippet, source }: Provenance): boolean {
  return snippet === PROVENANCE.snippet && source === PROVENANCE.source;
}

/** Paths of files that a text may name, by the folders of `filePath`. */
const PATHS = /(?<![\w.-])(?:maps|files|certs|crt-lists|ca)\/[A-Za-z0-9_./-]+/g;

/** What a render may write besides the profiles that its backends have. */
export interface Keeping {
  readonly retained: readonly RetainedProfile[];
  readonly isFile: (path: string) => boolean;
}

/** Whether everything that the profile may name is still there: one that nobody has must not make the file invalid. */
function isIntact(
  { text, core }: RetainedProfile,
  current: Digest,
  isFile: (path: string) => boolean,
): boolean {
  return core === current && (text.match(PATHS) ?? []).every(isFile);
}

const built = new WeakMap<RetainedProfile, BuiltProfile>();

/** As a section of the file. */
function builtFrom(profile: RetainedProfile, hash: Hash): BuiltProfile {
  const known = built.get(profile);
  if (known !== undefined) return known;
  const { name, base, text, secret } = profile;
  const facts = factsOf(text, hash);
  const section = Object.freeze({
    kind: 'profile' as const,
    name,
    ...facts,
    provenance: PROVENANCE,
    ...(secret && { secret }),
  });
  const fresh = { section, text, base };
  built.set(profile, fresh);
  return fresh;
}

export function keptProfiles(
  { retained, isFile }: Keeping,
  core: Digest,
  hash: Hash,
): readonly BuiltProfile[] {
  return retained
    .filter((profile) => isIntact(profile, core, isFile))
    .map((profile) => builtFrom(profile, hash));
}
