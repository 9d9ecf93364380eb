import type { Token } from './lexer.ts';

type TextToken = Extract<Token, { kind: 'text' }>;

/** What stands on one line: its tags, and the parts of text tokens around them. */
interface Line {
  readonly tokens: Token[];
  readonly parts: { readonly token: TextToken; readonly start: number; readonly end: number }[];
}

function splitLines(text: string, tokens: readonly Token[]): Line[] {
  let line: Line = { tokens: [], parts: [] };
  const lines = [line];
  for (const token of tokens) {
    if (token.kind !== 'text') {
      line.tokens.push(token);
      continue;
    }
    for (let start = token.start; start < token.end;) {
      const newline = text.indexOf('\n', start);
      const end = newline === -1 || newline >= token.end ? token.end : newline + 1;
      line.parts.push({ token, start, end });
      if (text[end - 1] === '\n') lines.push((line = { tokens: [], parts: [] }));
      start = end;
    }
  }
  return lines;
}

/** Takes the part away from its token; a line's part is always the head or the tail of one. */
function remove({ token, start, end }: Line['parts'][number]): void {
  if (token.start === start) token.start = end;
  else token.end = start;
}

const opensCapture = /^\s*(?:set\s+[\w$]+|macro\b[^]*)\s*$/;
const closesCapture = /^\s*end(?:set|macro)\s*$/;

/** The line without what is captured on it: the bodies of set blocks and macros that begin and end there are not written here. */
function withoutCaptured(text: string, line: Line): Line {
  const spans: { start: number; end: number }[] = [];
  let start: number | undefined;
  for (const token of line.tokens) {
    if (token.kind !== 'tag') continue;
    const content = text.slice(token.inner.start, token.inner.end);
    if (start === undefined && opensCapture.test(content)) start = token.end;
    else if (start !== undefined && closesCapture.test(content)) {
      spans.push({ start, end: token.start });
      start = undefined;
    }
  }
  const isOutside = (part: { readonly start: number; readonly end: number }): boolean =>
    !spans.some((span) => part.start >= span.start && part.end <= span.end);
  return { tokens: line.tokens.filter(isOutside), parts: line.parts.filter(isOutside) };
}

function settle(text: string, whole: Line): void {
  const line = withoutCaptured(text, whole);
  const isBlank = line.parts.every(({ start, end }) => text.slice(start, end).trim() === '');
  if (line.tokens.length === 0 || !isBlank) return;
  const spoken = line.tokens.filter((token) => token.kind !== 'comment');
  const hasOutput = spoken.some((token) => token.kind === 'output');
  if (!hasOutput) {
    for (const token of spoken) if (token.kind === 'tag') token.alone = true;
    line.parts.forEach(remove);
    return;
  }
  const [only] = spoken;
  if (spoken.length !== 1 || only?.kind !== 'output') return;
  only.alone = true;
  // The indentation stays, what follows is the output's to write.
  for (const part of line.parts) {
    if (part.start < only.end) continue;
    only.lineEnd ||= text[part.end - 1] === '\n';
    remove(part);
  }
}

/**
 * Lines that hold nothing but tags and comments leave no trace, line end included. Marks tags and outputs that stand alone.
 */
export function settleLines(text: string, tokens: readonly Token[]): readonly Token[] {
  for (const line of splitLines(text, tokens)) settle(text, line);
  return tokens.filter((token) => token.kind !== 'comment' && token.end > token.start);
}
