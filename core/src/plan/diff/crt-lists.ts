import type { CrtList, CrtListLine } from '../../contract/index.ts';
import type { Steps } from './steps.ts';
import { differing } from '../window.ts';

function keyOf({ certificate, options, sni }: CrtListLine): string {
  return `${certificate} [${options}] ${sni.join(' ')}`;
}

function sameLine(a: CrtListLine, b: CrtListLine): boolean {
  return a === b || keyOf(a) === keyOf(b);
}

/** Lines that stand behind others, by their filters. */
class LinesBehind {
  readonly #filters = new Set<string>();
  #count = 0;
  #isUnclear = false;

  add({ sni }: CrtListLine): void {
    this.#count++;
    // Without filters those in the certificate count, which are not known here; negative ones speak of others.
    this.#isUnclear ||= sni.length === 0 || sni.some((filter) => filter.startsWith('!'));
    for (const filter of sni) this.#filters.add(filter.toLowerCase());
  }

  /** Whether the line would say something else behind them. */
  overlaps({ sni }: CrtListLine): boolean {
    if (this.#count === 0) return false;
    if (this.#isUnclear || sni.length === 0) return true;
    return sni.some((filter) => filter.startsWith('!') || this.#filters.has(filter.toLowerCase()));
  }
}

/** Lines added at run time stand last. Whether one of these must not: of equal filters the first counts. */
function placeMatters(
  next: CrtList,
  end: number,
  window: readonly CrtListLine[],
  old: ReadonlySet<string>,
): boolean {
  const behind = new LinesBehind();
  for (const line of next.lines.slice(end)) behind.add(line);
  for (const line of window.toReversed()) {
    if (old.has(keyOf(line))) behind.add(line);
    else if (behind.overlaps(line)) return true;
  }
  return false;
}

/** Whether the first line, the default certificate, is another one. */
function hasOtherDefault(next: CrtList, before: CrtList): boolean {
  const [a] = next.lines;
  const [b] = before.lines;
  return a === undefined || b === undefined || !sameLine(a, b);
}

export function compareCrtList(list: string, next: CrtList, before: CrtList, steps: Steps): void {
  const reason = `crt-list_changed:${list}`;
  const window = differing(next.lines, before.lines, sameLine);
  const now = new Set(window.next.map(keyOf));
  const old = new Set(window.before.map(keyOf));
  const kept = window.next.map(keyOf).filter((key) => old.has(key));
  const keptBefore = window.before.map(keyOf).filter((key) => now.has(key));
  const isTwice = now.size < window.next.length || old.size < window.before.length;
  const isMoved = kept.length !== keptBefore.length || kept.some((key, index) => key !== keptBefore[index]);
  if (
    isTwice ||
    isMoved ||
    hasOtherDefault(next, before) ||
    placeMatters(next, window.end, window.next, old)
  ) {
    return steps.reload(reason);
  }
  for (const line of window.next) {
    if (!old.has(keyOf(line))) steps.run('crt-lines', reason, { op: 'crtlist.add', list, line });
  }
  for (const line of window.before) {
    if (!now.has(keyOf(line))) steps.run('crt-lines-gone', reason, { op: 'crtlist.del', list, line });
  }
}
