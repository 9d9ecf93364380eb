import {
  filePath,
  MAIN_CONFIG,
  type Digest,
  type FileEntry,
  type MergedConfig,
  type Rendered,
  type RenderInput,
  type RenderPlan,
} from '../contract/index.ts';
import type { RenderOutput } from '../templates/output.ts';
import type { BuiltSection } from './backend-section.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { buildCrtLists } from './crt-list.ts';
import { frozenRecord } from '../values/frozen-record.ts';
import { fileSet, locator, sectionLocator } from './file-set.ts';
import { buildFiles, filePart, type FilePart } from './file-part.ts';
import type { BuiltMap } from './map-file.ts';
import { buildMaps } from './map-file.ts';
import type { PlanMemo } from './memo.ts';
import { Problems } from './problems.ts';
import { buildResources, distinct } from './resources.ts';
import { layOut } from './sections.ts';
import { seatBackends, SPARES_MAP } from './spare-backends.ts';
import { stampSection } from './stamp.ts';

function mainConfig(sections: readonly BuiltSection[], memo: PlanMemo): FilePart {
  const content = memo.mainConfig.of(sections);
  const file = { path: MAIN_CONFIG, kind: 'config', reloadOnChange: true, secret: false } as const;
  return filePart(file, content, { text: () => content.text, locate: sectionLocator(sections) });
}

function mapPart(name: string, map: BuiltMap): FilePart {
  const { secret } = map.content;
  const file = { path: filePath('map', name), kind: 'map', reloadOnChange: true, secret } as const;
  return filePart(file, map, {
    text: () => map.text,
    locate: (line) => map.written[line - 1]?.provenance,
  });
}

/** What a pod gets; the main configuration goes by its text without the stamp. */
export function planId(
  textId: Digest,
  entries: readonly FileEntry[],
  binds: RenderPlan['binds'],
  memo: PlanMemo,
): Digest {
  const files = memo.fileDigests.digest(entries.filter(({ path }) => path !== MAIN_CONFIG));
  return memo.hash([textId, files, canonicalJson(binds)].join('\n'));
}

function digestsOf(
  entries: readonly FileEntry[],
  kind: FileEntry['kind'],
): Readonly<Record<string, { readonly digest: Digest }>> {
  return frozenRecord(
    entries
      .filter((entry) => entry.kind === kind)
      .map(({ path, digest }) => [path, Object.freeze({ digest })]),
  );
}

/** Tells whether a path will be one of a file; most renders do not ask. */
function filesAmong(parts: readonly FilePart[], maps: Iterable<string>): (path: string) => boolean {
  let paths: Set<string> | undefined;
  return (path) => {
    paths ??= new Set([
      ...parts.map(({ entry }) => entry.path),
      ...[...maps].map((name) => filePath('map', name)),
    ]);
    return paths.has(path);
  };
}

/** What one render hands to the next, as far as the plan itself looks at it. */
export interface Carried extends Pick<RenderInput, 'retainedProfiles' | 'current' | 'dispatched'> {
  /** Empty backends of every profile, for HAProxy that cannot add any. */
  readonly spareBackends?: number;
}

/**
 * Turns what templates declared into a plan with its files.
 *
 * @param config Supplies the maps; contents that were dropped may be in it.
 * @throws Refused with everything that is wrong.
 */
export function assemble(
  output: RenderOutput,
  config: Pick<MergedConfig, 'maps'>,
  memo: PlanMemo,
  { retainedProfiles = [], current, dispatched = current, spareBackends = 0 }: Carried = {},
): Rendered {
  memo.turn();
  const problems = new Problems();
  const files = buildFiles(output, memo, problems);
  const crtLists = buildCrtLists(output, memo, problems);
  const isFile = filesAmong([...files, ...crtLists], Object.keys(config.maps));
  const laidOut = layOut(output.pieces, { retained: retainedProfiles, isFile }, memo, problems);
  const { layout, entries: seats } =
    spareBackends > 0 && Object.hasOwn(config.maps, SPARES_MAP) && problems.count === 0
      ? seatBackends(laidOut, { count: spareBackends, current: dispatched, hash: memo.hash })
      : { layout: laidOut.layout, entries: [] };
  const maps = buildMaps(config.maps, [...output.entries, ...seats], memo, problems);
  const resources = buildResources(output.k8sResources, problems);
  problems.refuse();

  const textId = memo.sectionDigests.digest(layout.sections.map(({ section }) => section));
  const sections = [stampSection(textId), ...layout.sections];
  const parts = [
    mainConfig(sections, memo),
    ...[...maps].map(([name, map]) => mapPart(name, map)),
    ...files,
    ...crtLists,
  ].sort((a, b) => (a.entry.path < b.entry.path ? -1 : 1));
  const entries = Object.freeze(parts.map(({ entry }) => entry));
  const binds = Object.freeze(distinct(output.binds.map(({ address }) => ({ address }))));
  const id = planId(textId, entries, binds, memo);
  const moving = {
    k8sResources: resources.all,
    statuses: Object.freeze(distinct(output.statuses)),
    events: Object.freeze(distinct(output.events)),
  };
  const plan: RenderPlan = Object.freeze({
    schema: 1,
    id,
    releaseId: memo.hash(canonicalJson({ id, ...moving })),
    textId,
    sections: Object.freeze(sections.map(({ section }) => section)),
    profiles: layout.profiles,
    backends: layout.backends,
    maps: frozenRecord([...maps].map(([name, { file }]) => [filePath('map', name), file])),
    crtLists: frozenRecord(crtLists.map(({ entry, record }) => [entry.path, record])),
    certificates: digestsOf(entries, 'certificate'),
    caFiles: digestsOf(entries, 'ca'),
    binds,
    files: entries,
    ...moving,
  });
  const { requests } = output;
  return Object.freeze({
    plan,
    files: fileSet(parts),
    resources: resources.byTemplate,
    locate: locator(parts),
    ...(requests && { requests }),
  });
}
