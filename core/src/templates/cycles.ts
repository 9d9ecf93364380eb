import type { Linker } from './codegen/linker.ts';
import type { Problems } from './problems.ts';
import { includesOf, type Templates } from './sources.ts';

/** Refuses snippets that include themselves, directly or through others. */
export function checkCycles(templates: Templates, linker: Linker, problems: Problems): void {
  const finished = new Set<string>();
  const open: string[] = [];
  const visit = (name: string): void => {
    if (finished.has(name)) return;
    open.push(name);
    const { source, body } = templates.snippets.get(name)!;
    for (const node of includesOf(body)) {
      for (const included of linker.includedNames(node)) {
        const at = open.indexOf(included);
        if (at === -1) visit(included);
        else {
          const circle = [...open.slice(at), included].join(' → ');
          problems.add(source, node.start, `the include is a circle: ${circle}`);
        }
      }
    }
    open.pop();
    finished.add(name);
  };
  for (const name of templates.snippets.keys()) visit(name);
}
