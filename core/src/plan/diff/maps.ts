import type { MapFile } from '../../contract/index.ts';
import { isUnordered } from '../map-file.ts';
import type { Steps } from './steps.ts';
import { compareSorted, differing } from '../window.ts';

type Entry = MapFile['entries'][number];

function sameEntry(a: Entry, b: Entry): boolean {
  return a === b || (a[0] === b[0] && a[1] === b[1]);
}

/** Requests in flight may have read what points at them, and read them later: they go when nobody can any more. */
function isReadLater({ layer }: MapFile): boolean {
  return layer === 'leaf' || layer === 'list';
}

/** Each key by itself. The longest prefix that matches decides: of those the longer ones come first and go last. */
function compareKeys(map: string, next: MapFile, before: MapFile, steps: Steps): void {
  const { layer, match } = next;
  const reason = `map_changed:${map}`;
  const deferred = isReadLater(before);
  const rank = (key: string): number => (match === 'beg' ? key.length : 0);
  const window = differing(next.entries, before.entries, sameEntry);
  compareSorted(
    window,
    ([key]) => key,
    sameEntry,
    (now, old) => {
      if (now === undefined) {
        const [key] = old!;
        steps.run(`map-${before.layer}-gone`, reason, { op: 'map.del', map, key, deferred }, rank(key));
        return;
      }
      const [key, value] = now;
      const op = old === undefined ? 'map.add' : 'map.set';
      steps.run(`map-${layer}`, reason, { op, map, key, value }, -rank(key));
    },
  );
}

/** All at once, since order matters; late where entries only go. */
function replaceAll(map: string, next: MapFile, before: MapFile, steps: Steps): void {
  const { next: now } = differing(next.entries, before.entries, sameEntry);
  const phase = now.length > 0 ? (`map-${next.layer}` as const) : (`map-${next.layer}-gone` as const);
  steps.run(phase, `map_changed:${map}`, { op: 'map.replace', map });
}

export function compareMap(map: string, next: MapFile, before: MapFile, steps: Steps): void {
  // The text that says how the map is searched stands elsewhere, and decides.
  if (next.match !== before.match) steps.reload(`map_changed:${map}`);
  else if (isUnordered(next.match)) compareKeys(map, next, before, steps);
  else replaceAll(map, next, before, steps);
}
