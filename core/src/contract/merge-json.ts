import type { JsonObject } from './object.ts';

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Objects merge member by member; everything else, lists and null included, is replaced by what lies over it. */
export function mergeJson(under: JsonObject, over: JsonObject): JsonObject {
  const merged = Object.entries(over).map(([key, value]) => {
    const below = Object.hasOwn(under, key) ? under[key] : undefined;
    return [key, isJsonObject(below) && isJsonObject(value) ? mergeJson(below, value) : value] as const;
  });
  // Not by assignment: a key `__proto__` must stay a key.
  return Object.fromEntries([...Object.entries(under), ...merged]);
}
