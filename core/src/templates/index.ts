export { compileConfig, type CompileOptions } from './compile.ts';
export { RenderError } from './errors.ts';
export type { Sha256 } from './names/encodings.ts';
export { createNames, namesReference, type NameDoc, type NameRegistry } from './names/registry.ts';
export type * from './output.ts';
export type { Program, RenderOptions } from './program.ts';
export { mapEntryRefusal } from './runtime/map-entry.ts';
