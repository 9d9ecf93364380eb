const closers: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** Index after the string literal that begins at `at`; the end of the text when it is not closed. */
function skipString(text: string, at: number): number {
  const quote = text[at];
  for (let i = at + 1; i < text.length; i++) {
    const char = text[i];
    if (char === '\\') i++;
    else if (char === quote) return i + 1;
    else if (char === '\n') return i;
  }
  return text.length;
}

/**
 * Where the tag that begins before `from` ends: the index of `close` (`}}` or `%}`) outside strings, template literals and
 * brackets. -1 when it never does.
 */
export function findTagEnd(text: string, from: number, close: string): number {
  // What must come before the tag can end, innermost last: closing brackets and backticks.
  const open: string[] = [];
  for (let i = from; i < text.length; i++) {
    const char = text[i]!;
    const innermost = open.at(-1);
    if (innermost === '`') {
      if (char === '\\') i++;
      else if (char === '`') open.pop();
      else if (char === '$' && text[i + 1] === '{') {
        open.push('}');
        i++;
      }
    } else if (open.length === 0 && text.startsWith(close, i)) return i;
    else if (char === '"' || char === "'") i = skipString(text, i) - 1;
    else if (char === '`') open.push('`');
    else if (closers[char] !== undefined) open.push(closers[char]);
    else if (char === innermost) open.pop();
  }
  return -1;
}
