import { MAIN_CONFIG } from '../contract/paths.ts';
import type { Rendered } from '../contract/render-plan.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { firstDifference, showDifference } from './excerpts.ts';
import { shownLines } from './secrets.ts';

/** The lines of a file; the stamp, which says a digest of all others, counts as equal. */
function linesOf({ plan, files }: Rendered, path: string): readonly string[] {
  const text = new TextDecoder().decode(files.read(path));
  const [first] = plan.sections;
  if (path !== MAIN_CONFIG || first?.kind !== 'stamp') return text.split('\n');
  // It is of ASCII, so its bytes are characters.
  return [
    ...text.slice(0, first.length).split('\n').slice(0, -1).fill(''),
    ...text.slice(first.length).split('\n'),
  ];
}

function fileDifference(first: Rendered, second: Rendered, path: string): string {
  const [before, after] = [shownLines(first, path), shownLines(second, path)];
  if (before === undefined || after === undefined) return `${path} is another text (it is secret)`;
  const at = firstDifference(linesOf(first, path), linesOf(second, path));
  return [`${path} is another text`, ...showDifference(at, before, after)].join('\n');
}

/** What a second render of the same input has otherwise; undefined: nothing, to the byte. */
export function renderDifference(first: Rendered, second: Rendered): string | undefined {
  const digests = new Map(second.files.entries.map(({ path, digest }) => [path, digest]));
  for (const { path, digest } of first.files.entries) {
    if (!digests.has(path)) return `${path} is missing`;
    if (digests.get(path) !== digest) return fileDifference(first, second, path);
    digests.delete(path);
  }
  const [added] = digests.keys();
  if (added !== undefined) return `${added} is there as well`;
  for (const part of ['binds', 'k8sResources', 'statuses', 'events'] as const) {
    if (canonicalJson(first.plan[part]) !== canonicalJson(second.plan[part]))
      return `${part} of the plan are others`;
  }
  return first.plan.releaseId === second.plan.releaseId ? undefined : 'the plan is another one';
}
