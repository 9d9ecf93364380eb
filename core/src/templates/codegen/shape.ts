import type { Body, Node } from '../syntax/nodes.ts';
import type { TextShape } from '../text/text-mode.ts';

function hasLines(node: Node): boolean {
  switch (node.kind) {
    case 'text':
      return node.text.includes('\n');
    case 'output':
      return node.alone;
    case 'include':
    case 'memo':
      return node.alone;
    case 'if':
      return node.branches.some(({ body }) => body.some(hasLines)) || (node.otherwise ?? []).some(hasLines);
    case 'for':
      return node.body.some(hasLines) || (node.otherwise ?? []).some(hasLines);
    default:
      return false;
  }
}

/** Text with a line break anywhere is lines, and may only stand alone. */
export function shapeOf(body: Body): TextShape {
  return body.some(hasLines) ? 'lines' : 'inline';
}

/** The body as it stands within a line: without the line end of its last line. */
export function withoutLastLineEnd(body: Body): Body {
  const last = body.at(-1);
  if (last?.kind === 'text' && last.text.endsWith('\n')) {
    return [...body.slice(0, -1), { ...last, text: last.text.slice(0, -1) }];
  }
  if (last?.kind === 'output' && last.alone)
    return [...body.slice(0, -1), { ...last, alone: false, lineEnd: false }];
  return body;
}
