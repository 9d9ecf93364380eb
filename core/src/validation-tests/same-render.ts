import type { Rendered } from '../contract/render-plan.ts';
import { canonicalJson } from '../plan/canonical-json.ts';
import { firstDifference } from './excerpts.ts';
import { shownLines } from './secrets.ts';

function linesOf({ files }: Rendered, path: string): readonly string[] {
  return new TextDecoder().decode(files.read(path)).split('\n');
}

function fileDifference(first: Rendered, second: Rendered, path: string): string {
  const [before, after] = [shownLines(first, path), shownLines(second, path)];
  if (before === undefined || after === undefined) return `${path} is another text (it is secret)`;
  const [was, is] = [linesOf(first, path), linesOf(second, path)];
  const at = was.findIndex((line, index) => line !== is[index]);
  const [expected = [], shown = []] = [before, after].map((lines) =>
    lines.slice(0, at === -1 ? undefined : at + 1),
  );
  return [`${path} is another text`, ...firstDifference(expected, is.slice(0, shown.length), shown)].join(
    '\n',
  );
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
