export { mergeFixtures } from './fixtures.ts';
export { mergeSources } from './merge-sources.ts';
export type { Hash } from './digest.ts';
export { parseSource, type ParsedSource } from './parse-source.ts';
export { parsePattern } from './pattern.ts';
export type { Requirement } from './requirement.ts';
export { resolveRequires, type Dropped, type Resolved, type Served } from './resolve-requires.ts';
export { configSchemaWith, librarySchema, type OwnedKey } from './source-schema.ts';
export { parseTarget, type Target } from './target.ts';
