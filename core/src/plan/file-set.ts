import { Bug, type FileSet, type ObjectRef, type Provenance, type Section } from '../contract/index.ts';
import type { BuiltSection } from './backend-section.ts';
import type { FilePart } from './file-part.ts';

const encoder = new TextEncoder();

/** Encodes a file when it is read first: most renders change few files, and nobody reads the others. */
export function fileSet(parts: readonly FilePart[]): FileSet {
  const byPath = new Map(parts.map((part) => [part.entry.path, part]));
  const bytes = new Map<string, Uint8Array>();
  return Object.freeze({
    entries: Object.freeze(parts.map(({ entry }) => entry)),
    read(path: string): Uint8Array {
      const known = bytes.get(path);
      if (known !== undefined) return known;
      const part = byPath.get(path);
      if (part === undefined) throw new Bug(`the file set has no file "${path}"`);
      const encoded = encoder.encode(part.text());
      bytes.set(path, encoded);
      return encoded;
    },
  });
}

function lineCount(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return lines;
}

/** A section, and the shared one that it inherits from where there is one. */
type Located = BuiltSection & { readonly profile?: BuiltSection };

/** Finds the section of a line. Lines are counted when the first one is asked for: a render without errors needs none. */
export function sectionLocator(sections: readonly Located[]): (line: number) => Provenance | undefined {
  let ends: readonly number[] | undefined;
  return (line) => {
    if (ends === undefined) {
      let last = 0;
      ends = sections.map(({ text }) => (last += lineCount(text)));
    }
    const index = ends.findIndex((end) => line <= end);
    const section = line < 1 ? undefined : sections[index]?.section;
    if (section?.kind === 'profile') return provenanceOfUsers(section, sections);
    return section?.kind === 'stamp' ? undefined : section?.provenance;
  };
}

/** What is wrong with a profile is wrong with every backend that has it. */
function provenanceOfUsers({ name, provenance }: Section, sections: readonly Located[]): Provenance {
  const objects = new Map<string, ObjectRef>();
  for (const { section, profile } of sections) {
    if (profile?.section.name !== name) continue;
    for (const ref of section.provenance.objects) {
      objects.set(`${ref.apiVersion}\0${ref.kind}\0${ref.namespace}\0${ref.name}`, ref);
    }
  }
  return Object.freeze({ ...provenance, objects: Object.freeze([...objects.values()]) });
}

export function locator(parts: readonly FilePart[]): (path: string, line: number) => Provenance | undefined {
  const byPath = new Map(parts.map((part) => [part.entry.path, part]));
  return (path, line) => byPath.get(path)?.locate(line);
}
