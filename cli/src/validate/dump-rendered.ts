import { MAIN_CONFIG, type Rendered } from '@haptic/core/contract';
import { shownLines } from '@haptic/core/validation-tests';
import { writeTrees } from '../write-tree.ts';

/** What goes to the standard output instead of a folder. */
export const STDOUT = '-';

/** A name of a test as one of a folder: reversible, and never one of the parent's. */
function folderOf(name: string): string {
  return encodeURIComponent(name).replace(/^\./, '%2E');
}

/** Every file with its test and path before it; what is secret stays unsaid. */
function printed(renders: ReadonlyMap<string, Rendered>): readonly string[] {
  return [...renders].flatMap(([name, rendered]) => {
    const paths = rendered.files.entries.map(({ path }) => path);
    const ordered = [MAIN_CONFIG, ...paths.filter((path) => path !== MAIN_CONFIG)];
    return ordered.flatMap((path) => [
      `=== ${name}: ${path}`,
      ...(shownLines(rendered, path)?.join('\n').trimEnd().split('\n') ?? ['(secret)']),
    ]);
  });
}

/** Shows what tests rendered: in a folder that only its user may enter, or without secrets where anybody may look. */
export async function dumpRendered(
  target: string,
  renders: ReadonlyMap<string, Rendered>,
  out: (text: string) => void,
): Promise<void> {
  const byName = new Map([...renders].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  if (target === STDOUT) {
    for (const line of printed(byName)) out(line);
    return;
  }
  await writeTrees(target, new Map([...byName].map(([name, rendered]) => [folderOf(name), rendered])));
}
