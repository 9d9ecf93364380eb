import { isJsonObject } from '../contract/merge-json.ts';
import type { Json, JsonObject } from '../contract/object.ts';

function replaced(value: Json, addresses: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return addresses.get(value) ?? value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => replaced(item, addresses));
  return isJsonObject(value) ? atAddresses(value, addresses) : value;
}

/** The settings with other addresses to listen on, wherever one of them is the whole of a setting. */
export function atAddresses(settings: JsonObject, addresses: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      key,
      value === undefined ? undefined : replaced(value, addresses),
    ]),
  );
}
