/** What a message says about where; `text` is the rest of it. */
export interface Placed {
  readonly text: string;
  readonly path?: string;
  readonly line?: number;
  readonly column?: number;
  /** The backend that a message without a line speaks of. */
  readonly backend?: string;
}

const LINE_OF_MAIN = /^(?:[Pp]arsing )?\[(?<path>[^\]\n]+):(?<line>[1-9]\d{0,8})\]\s*:\s*/;

const COLUMN = /^[^\n]{0,60} at position (?<column>\d+)\b/;

/**
 * Deeper places: the file that the line names. Values of tenants stand in messages, so a place counts only where nothing but
 * HAProxy's own words can stand before it, or at the very end behind words that only HAProxy writes.
 */
const DEEPER: readonly RegExp[] = [
  /^'bind [^'\n]*' in section '[^'\n]*' :\s+'crt-list' : parsing \[(?<path>[^\]\n]+):(?<line>[1-9]\d{0,8})\]: /,
  /^'bind [^'\n]*' in section '[^'\n]*' :\s+'crt-list' : error processing line (?<line>[1-9]\d{0,8}) in file '(?<path>[^'\n]+)' : /,
  /^error in Lua file '[^'\n]+': (?<path>[^:\n]+):(?<line>[1-9]\d{0,8}): /,
  /^Lua runtime error: (?<path>[^:\n]+):(?<line>[1-9]\d{0,8}): /,
  /^error detected in \w+ '[^'\n]*' while parsing '[^'\n]*' rule : invalid args in converter 'map\w*' : [^\n]* at line (?<line>[1-9]\d{0,8}) of file '(?<path>[^'\n]+)'\.$/,
  /^error detected while parsing (?:ACL '[^'\n]*'|an '[^'\n]*' condition) : [^\n]* at line (?<line>[1-9]\d{0,8}) of file '(?<path>[^'\n]+)'\.$/,
];

const BACKEND: readonly RegExp[] = [
  /^Proxy '(?<backend>[^'\n]+)': /,
  /^backend '(?<backend>[^'\n]+)' ?[:,] /,
  /^(?:missing timeouts|'[^'\n]*' rules ignored|cookie will be ignored|'option [^'\n]*' ignored|Layer 7 hash not possible) for backend '(?<backend>[^'\n]+)'/,
];

/** Finds the most particular place that a message names: a line of a file of the set, else of the configuration. */
export function placeOf(message: string): Placed {
  const main = LINE_OF_MAIN.exec(message);
  if (main === null) return { text: message, ...namedBackend(message) };
  let text = message.slice(main[0].length);
  // 3.x says it twice for some keywords.
  for (let again = LINE_OF_MAIN.exec(text); again !== null; again = LINE_OF_MAIN.exec(text)) {
    text = text.slice(again[0].length);
  }
  const deeper = firstGroups(DEEPER, text);
  if (deeper?.['path'] !== undefined) return { text, path: deeper['path'], line: Number(deeper['line']) };
  const column = COLUMN.exec(text)?.groups?.['column'];
  return {
    text: text || message,
    path: main.groups?.['path'] ?? '',
    line: Number(main.groups?.['line']),
    ...(column === undefined ? {} : { column: Number(column) }),
  };
}

function namedBackend(message: string): { readonly backend?: string } {
  const backend = firstGroups(BACKEND, message)?.['backend'];
  return backend === undefined ? {} : { backend };
}

function firstGroups(patterns: readonly RegExp[], text: string): Record<string, string> | undefined {
  for (const pattern of patterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups !== undefined) return groups;
  }
  return undefined;
}
