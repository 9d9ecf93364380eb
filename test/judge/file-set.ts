import { createHash } from 'node:crypto';
import type { FileEntry, Provenance, Rendered, Section } from '@haptic/core/contract';

const nobody: Provenance = { snippet: 'test', source: 'test', line: 1, objects: [] };

/** A `Rendered` of these files, as a judge sees it; `sections` cut the configuration by the names of its backends. */
export function renderedFiles(
  files: Readonly<Record<string, string | Uint8Array>>,
  sections: readonly Section[] = [],
): Rendered {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const));
  const entries = [...contents]
    .map(([path, bytes]): FileEntry => {
      const digest = createHash('sha256').update(bytes).digest('hex');
      return { path, kind: 'file', digest, size: bytes.length, reloadOnChange: true };
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const read = (path: string): Uint8Array => {
    const bytes = contents.get(path);
    if (bytes === undefined) throw new Error(`${path} is not in the set`);
    return bytes;
  };
  return {
    plan: {
      schema: 1,
      id: '',
      releaseId: '',
      textId: '',
      sections,
      profiles: {},
      backends: {},
      maps: {},
      crtLists: {},
      certificates: {},
      caFiles: {},
      binds: [],
      files: entries,
      k8sResources: [],
      statuses: [],
      events: [],
    },
    files: { entries, read },
    locate: () => undefined,
  };
}

/** One section for each line that starts a section. */
export function sectionsOf(config: string): readonly Section[] {
  return config.split(/^(?=[a-z])/m).map((text): Section => {
    const [kind = '', name = ''] = text.split(/\s+/);
    const length = Buffer.byteLength(text);
    return { kind: kind === 'backend' ? 'backend' : 'core', name, digest: '', length, provenance: nobody };
  });
}
