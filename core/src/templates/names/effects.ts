/** Helpers that the compiler knows: they need the render, the place of the call, or their argument at load. */
export interface EffectHelper {
  readonly name: 'fail' | 'warn' | 'path' | 'matches';
  readonly signature: string;
  readonly doc: string;
  readonly minArgs: number;
  readonly maxArgs: number;
  readonly compiled: true;
}

export const effectHelpers: readonly EffectHelper[] = [
  {
    name: 'fail',
    signature: 'fail(message)',
    doc: 'Refuses the render.',
    minArgs: 1,
    maxArgs: 1,
    compiled: true,
  },
  {
    name: 'warn',
    signature: 'warn(object, reason, message)',
    doc: 'Emits a Kubernetes Event on the object and goes on.',
    minArgs: 3,
    maxArgs: 3,
    compiled: true,
  },
  {
    name: 'path',
    signature: 'path(kind, name) → text',
    doc: 'Where a named file stands; kind is map, file, certificate, crt-list or ca. The only way to name a file.',
    minArgs: 2,
    maxArgs: 2,
    compiled: true,
  },
  {
    name: 'matches',
    signature: 'matches(text, "pattern") → boolean',
    doc: 'Whether the pattern is found in the text. RE2 syntax, a literal, compiled at load; linear in the length of the text.',
    minArgs: 2,
    maxArgs: 2,
    compiled: true,
  },
];
