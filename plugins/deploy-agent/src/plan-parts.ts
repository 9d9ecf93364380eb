import { z } from 'zod';
import type { RenderPlan } from '@haptic/core/contract';

/** One of many alike; with a name before it where the plan has them by name. */
export type Row = object;

/** Many rows of one kind: the parts of a plan that grow with what is served. */
export interface PlanPart {
  readonly name: string;
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
}

const BY_NAME = ['profiles', 'backends', 'certificates', 'caFiles'] as const;
const keyOfEntry = (row: Row): string => (row as readonly [string, unknown])[0];

/** A plan as its parts, each of which can be cut anywhere. */
export function* planParts(plan: RenderPlan): Iterable<PlanPart> {
  const { sections, profiles, backends, maps, crtLists, certificates, caFiles, files, ...head } = plan;
  const tables = { maps: without(maps, 'entries'), crtLists: without(crtLists, 'lines') };
  yield { name: 'head', rows: [{ ...head, ...tables }], keyOf: () => '' };
  yield { name: 'sections', rows: sections, keyOf: (row) => (row as { readonly name: string }).name };
  yield { name: 'files', rows: files, keyOf: (row) => (row as { readonly path: string }).path };
  const named = { profiles, backends, certificates, caFiles };
  for (const name of BY_NAME) yield { name, rows: Object.entries(named[name]), keyOf: keyOfEntry };
  for (const [path, { entries }] of Object.entries(maps))
    yield { name: `entries ${path}`, rows: entries, keyOf: keyOfEntry };
  for (const [path, { lines }] of Object.entries(crtLists)) {
    yield {
      name: `lines ${path}`,
      rows: lines,
      keyOf: (row) => {
        const { certificate, sni } = row as { readonly certificate: string; readonly sni: readonly string[] };
        return `${certificate} ${sni.join(' ')}`;
      },
    };
  }
}

function without(tables: Readonly<Record<string, object>>, field: string): Record<string, object> {
  return Object.fromEntries(
    Object.entries(tables).map(([path, table]) => [path, { ...table, [field]: undefined }]),
  );
}

const chunkSchema = z.object({ name: z.string(), rows: z.array(z.unknown()) });
const headSchema = z.object({
  maps: z.record(z.string(), z.looseObject({})),
  crtLists: z.record(z.string(), z.looseObject({})),
});

/** Puts the parts together; of what shape the result is, is still to be checked. @throws when they are no parts of a plan. */
export function joinParts(chunks: readonly unknown[]): unknown {
  const rows = new Map<string, unknown[]>();
  for (const chunk of chunks) {
    const { name, rows: more } = chunkSchema.parse(chunk);
    rows.set(name, [...(rows.get(name) ?? []), ...more]);
  }
  const of = (name: string): readonly unknown[] => rows.get(name) ?? [];
  const byName = (name: string): object =>
    Object.fromEntries(z.array(z.tuple([z.string(), z.unknown()])).parse(of(name)));
  const [head] = of('head');
  const { maps, crtLists } = headSchema.parse(head);
  return {
    ...(head as object),
    sections: of('sections'),
    files: of('files'),
    ...Object.fromEntries(BY_NAME.map((name) => [name, byName(name)])),
    maps: filled(maps, (path) => ({ entries: of(`entries ${path}`) })),
    crtLists: filled(crtLists, (path) => ({ lines: of(`lines ${path}`) })),
  };
}

function filled(tables: Readonly<Record<string, object>>, rows: (path: string) => object): object {
  return Object.fromEntries(
    Object.entries(tables).map(([path, table]) => [path, { ...table, ...rows(path) }]),
  );
}
