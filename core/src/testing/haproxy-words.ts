/**
 * The words of one line as HAProxy reads them, written from observations of the program and not from the escaper that it checks.
 * @throws Error where HAProxy would refuse the line
 */
export function haproxyWords(line: string): string[] {
  const words: string[] = [];
  let word = '';
  let inWord = false;
  let quote = '';
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!;
    if (char === '\0' || char === '\n') throw new Error('a line holds neither NUL nor line feed');
    if (quote === "'") {
      if (char === "'") quote = '';
      else word += char;
      continue;
    }
    if (char === '\\') {
      const [text, length] = escapeAt(line, i, quote === '"');
      word += text;
      inWord = true;
      i += length - 1;
    } else if (char === '"') {
      quote = quote === '"' ? '' : '"';
      inWord = true;
    } else if (quote === '"') {
      if (char === '$' && /^\$(?:[A-Za-z_]|\{)/.test(line.slice(i)))
        throw new Error('an environment variable');
      word += char;
    } else if (char === "'") {
      quote = "'";
      inWord = true;
    } else if (char === '#') {
      break;
    } else if (' \t\v\f\r'.includes(char)) {
      if (inWord) words.push(word);
      word = '';
      inWord = false;
    } else {
      word += char;
      inWord = true;
    }
  }
  if (quote !== '') throw new Error('unmatched quote');
  if (inWord) words.push(word);
  return words;
}

/** What a backslash at `at` yields, and how many characters it takes. */
function escapeAt(line: string, at: number, inDouble: boolean): [text: string, length: number] {
  const next = line[at + 1];
  if (next === undefined) return ['\\', 1];
  if (next === 'n') return ['\n', 2];
  if (next === 'r') return ['\r', 2];
  if (next === 't') return ['\t', 2];
  if (next === 'x') {
    const digits = /^[0-9a-fA-F]{2}/.exec(line.slice(at + 2))?.[0];
    if (digits === undefined) throw new Error('two digits must follow \\x');
    return [String.fromCharCode(Number.parseInt(digits, 16)), 4];
  }
  if (next === '\\' || next === '"' || next === "'" || next === ' ' || next === '#') return [next, 2];
  if (next === '$' && inDouble) return ['$', 2];
  return [`\\${next}`, 2];
}
