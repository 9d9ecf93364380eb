import {
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Document,
  type Node,
} from 'yaml';
import type { Position } from './config.ts';
import { Refused, type Problem } from './errors.ts';
import { yamlMessage } from './yaml-words.ts';

type Path = readonly (string | number)[];

/** One document of a YAML (or JSON) file, as plain data. */
export interface YamlDocument {
  /** Null for a document without content. */
  readonly value: unknown;
  /** Where a path stands: its key or item; the nearest parent that exists when the path itself does not. */
  locate(path: Path): Position;
}

/** How errors name a place. */
export function formatPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`;
}

/**
 * Reads all documents of a file.
 *
 * @throws Refused with every syntax error, duplicate keys and unknown tags included.
 */
export function readYaml(file: string, text: string): YamlDocument[] {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems = documents.flatMap(({ errors, warnings }) =>
    [...errors, ...warnings].map((error): Problem => ({
      where: formatPosition(at(error.pos[0])),
      message: yamlMessage(error),
    })),
  );
  if (problems.length > 0) throw new Refused(problems);
  return documents.map((document) => ({
    value: toData(document, file),
    locate: (path) => at(offsetOf(document.contents, path)),
  }));
}

function toData(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (cause) {
    // Too many aliases: a few lines could stand for gigabytes.
    throw new Refused([{ where: file, message: cause instanceof Error ? cause.message : String(cause) }]);
  }
}

function offsetOf(contents: Node | null, path: Path): number {
  let offset = contents?.range?.[0] ?? 0;
  let node: unknown = contents;
  for (const part of path) {
    const found = itemOf(node, part);
    if (found === undefined) break;
    offset = (isPair(found) ? (found.key as Node) : (found as Node)).range?.[0] ?? offset;
    node = isPair(found) ? found.value : found;
  }
  return offset;
}

/** The pair of a map, or the item of a list. */
function itemOf(node: unknown, part: string | number): unknown {
  if (isSeq(node)) return typeof part === 'number' ? node.items[part] : undefined;
  if (!isMap(node)) return undefined;
  return node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
}
