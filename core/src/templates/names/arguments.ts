/** Checks of helpers' arguments. Errors say what was expected; the caller adds where. */

type Callback = (...args: readonly unknown[]) => unknown;

function refuse(value: unknown, expected: string): never {
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;
  throw new Error(`expected ${expected}, not ${found}`);
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : refuse(value, 'a text');
}

export function asNumber(value: unknown): number {
  return typeof value === 'number' ? value : refuse(value, 'a number');
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(value, 'a list');
}

export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(value, 'an object');
  return value as Readonly<Record<string, unknown>>;
}

export function asFunction(value: unknown): Callback {
  return typeof value === 'function' ? (value as Callback) : refuse(value, 'a function: item => …');
}
