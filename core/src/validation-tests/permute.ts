import type { Fixtures } from '../contract/config.ts';
import { isJsonObject } from '../contract/merge-json.ts';
import type { KubeObject } from '../contract/object.ts';

/** The same data with the members of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

/** The same objects, as they might have arrived in another order and from another encoder. */
export function permuted(fixtures: Fixtures): Fixtures {
  const watches = Object.entries(fixtures).toReversed();
  return Object.fromEntries(
    watches.map(([watch, objects]) => [
      watch,
      objects.toReversed().map((object) => reversed(object) as KubeObject),
    ]),
  );
}
