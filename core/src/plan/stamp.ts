import type { Digest, Provenance, Section } from '../contract/index.ts';
import type { BuiltSection } from './backend-section.ts';

/** `show env` with this name tells which text a worker has loaded. */
const STAMP_VARIABLE = 'HAPTIC_TEXT';

const provenance: Provenance = Object.freeze({
  snippet: 'stamp',
  source: 'core',
  line: 1,
  objects: Object.freeze([]),
});

/**
 * The reserved first section: it says which text the rest of the file is. Of fixed length, and in no digest, so that it can be
 * filled in before anybody judges.
 */
export function stampSection(textId: Digest): BuiltSection {
  const text = `global\n    setenv ${STAMP_VARIABLE} ${textId}\n`;
  const section: Section = Object.freeze({
    kind: 'stamp',
    name: 'stamp',
    digest: textId,
    length: text.length,
    provenance,
  });
  return { section, text };
}
