import { didYouMean } from '../../contract/index.ts';
import type { Problems } from '../problems.ts';
import type { TemplateSource } from '../source.ts';
import type { MemoNode } from '../syntax/nodes.ts';

/** What a piece of a template depends on. */
export interface Reads {
  /** Variables from outside of it. */
  readonly variables: Set<string>;
  /** Globals, with where each is read first. */
  readonly globals: Map<string, string>;
  /** Units that it calls, by their names in the code. */
  readonly units: Set<string>;
}

export function noReads(): Reads {
  return { variables: new Set(), globals: new Map(), units: new Set() };
}

/** The body of a memo, with what it depends on itself. */
export interface MemoBody {
  readonly node: MemoNode;
  readonly source: TemplateSource;
  readonly reads: Reads;
}

/** Globals that stay the same as long as the configuration and the fleet do. */
const constants: ReadonlySet<string> = new Set(['settings', 'haproxy', 'files']);

/**
 * Refuses memos that would re-use what has become something else: everything that the body reads, through macros and includes,
 * is a key or a constant.
 */
export function checkMemos(
  memos: readonly MemoBody[],
  units: ReadonlyMap<string, Reads>,
  problems: Problems,
): void {
  for (const { node, source, reads } of memos) {
    const keys = new Set(node.keys.map(({ name }) => name));
    for (const name of reads.variables) {
      if (keys.has(name)) continue;
      const hint = name === 'loop' ? 'set a variable to what it says' : missingKey(node, name);
      problems.add(source, node.start, `the memo reads "${name}", which is no key of it: ${hint}`);
    }
    for (const [name, where] of globalsOf(reads, units)) {
      if (keys.has(name) || constants.has(name)) continue;
      problems.add(
        source,
        node.start,
        `the memo reads "${name}" (${where}), which is neither a key nor a constant: hand over what it needs as a key`,
      );
    }
  }
}

function missingKey(node: MemoNode, name: string): string {
  const names = node.keys.map((key) => key.name);
  return `write {% memo ${[...names, name].join(', ')} %}${didYouMean(name, names)}`;
}

/** All globals that are read, through whatever is called. */
function globalsOf(reads: Reads, units: ReadonlyMap<string, Reads>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const seen = new Set<Reads>();
  const visit = (part: Reads): void => {
    if (seen.has(part)) return;
    seen.add(part);
    for (const [name, where] of part.globals) if (!found.has(name)) found.set(name, where);
    for (const unit of part.units) {
      const called = units.get(unit);
      if (called !== undefined) visit(called);
    }
  };
  visit(reads);
  return found;
}
