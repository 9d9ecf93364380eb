import {
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Document,
  type LineCounter,
  type Node,
} from 'yaml';

export interface Place {
  readonly line: number;
  readonly column: number;
}

type Path = readonly (string | number)[];

interface Found {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
  /** False: the path goes on where the document does not. */
  readonly whole: boolean;
}

function asNode(value: unknown): Node | undefined {
  return isScalar(value) || isCollection(value) || isAlias(value) ? value : undefined;
}

function childOf(parent: Node, segment: string | number): Omit<Found, 'whole'> | undefined {
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === String(segment));
    return pair && { key: asNode(pair.key), value: asNode(pair.value) };
  }
  if (!isSeq(parent)) return undefined;
  const item = asNode(parent.items[Number(segment)]);
  return item && { key: item, value: item };
}

function find(document: Document, path: Path): Found {
  let found: Omit<Found, 'whole'> = { key: undefined, value: asNode(document.contents) };
  for (const segment of path) {
    const node = isAlias(found.value) ? found.value.resolve(document) : found.value;
    const child = node === undefined ? undefined : childOf(node, segment);
    if (child === undefined) return { ...found, whole: false };
    found = child;
  }
  return { ...found, whole: true };
}

/** Where the first line of a block scalar's text stands: below its header, behind its indentation. */
function blockText(offset: number, lines: readonly string[], counter: LineCounter): Place {
  const line = counter.linePos(offset).line + 1;
  const text = lines[line - 1] ?? '';
  return { line, column: text.length - text.trimStart().length + 1 };
}

function placeOf(node: Node | undefined, counter: LineCounter): Place | undefined {
  if (node?.range === undefined || node.range === null) return undefined;
  const { line, col } = counter.linePos(node.range[0]);
  return { line, column: col };
}

/** Where the key or the value of a path stands in a document, or the nearest parent's key. Block collections stand at their keys. */
export function locate(
  document: Document,
  path: Path,
  of: 'key' | 'value',
  lines: readonly string[],
  counter: LineCounter,
): Place | undefined {
  const { key, value, whole } = find(document, path);
  const start = placeOf(key ?? asNode(document.contents), counter);
  if (of === 'key' || !whole || value === undefined || value === null) return start;
  if (isScalar(value) && (value.type === 'BLOCK_LITERAL' || value.type === 'BLOCK_FOLDED')) {
    return blockText(value.range![0], lines, counter);
  }
  return isCollection(value) && value.flow !== true ? start : placeOf(value, counter);
}
