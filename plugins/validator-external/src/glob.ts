/** One character of a path, or any number of them (`*`). */
type Token = '*' | ((character: string) => boolean);

/** A pattern over rendered paths, a list of tokens for each part between slashes. */
export type Glob = readonly (readonly Token[])[];

const notSlash: Token = (character) => character !== '/';

/**
 * `*` and `?` stand for characters other than `/`, `[a-z]` and `[!a-z]` for one of a class, `\` takes the next character as it
 * is.
 *
 * @throws SyntaxError that says what is wrong.
 */
export function parseGlob(text: string): Glob {
  if (text === '') throw new SyntaxError('it is empty');
  if (text.startsWith('/'))
    throw new SyntaxError('rendered paths are relative, so it must not begin with "/"');
  const parts: Token[][] = [[]];
  const characters = Array.from(text).values();
  let previous = '';
  for (const character of characters) {
    if (character === '*' && previous === '*')
      throw new SyntaxError('"**" is not supported, "*" ends at "/"');
    if (character === '/') {
      if (previous === '/') throw new SyntaxError('"//" can match nothing');
      parts.push([]);
    } else parts.at(-1)!.push(tokenOf(character, characters));
    previous = character;
  }
  if (previous === '/') throw new SyntaxError('it ends with "/", and names no file');
  return parts;
}

function tokenOf(character: string, rest: Iterator<string>): Token {
  switch (character) {
    case '*':
      return '*';
    case '?':
      return notSlash;
    case '[':
      return classOf(rest);
    case '\\':
      return exactly(next(rest, '"\\" at the end takes no character'));
    default:
      return exactly(character);
  }
}

function exactly(wanted: string): Token {
  return (character) => character === wanted;
}

function next(rest: Iterator<string>, problem: string): string {
  const { value, done } = rest.next();
  if (done === true) throw new SyntaxError(problem);
  return value;
}

const UNCLOSED = '"[" is not closed by "]"';

function classOf(rest: Iterator<string>): Token {
  const members: string[] = [];
  let character = next(rest, UNCLOSED);
  const negated = character === '!' || character === '^';
  if (negated) character = next(rest, UNCLOSED);
  for (; character !== ']'; character = next(rest, UNCLOSED)) {
    if (character === '/') throw new SyntaxError('a class of characters can not hold "/"');
    // An escaped character is kept apart from the syntax: `\-` is no range.
    members.push(character === '\\' ? `\\${next(rest, UNCLOSED)}` : character);
  }
  if (members.length === 0) throw new SyntaxError('"[]" can match nothing');
  const ranges = rangesOf(members);
  return (character) =>
    character !== '/' && ranges.some(([low, high]) => low <= character && character <= high) !== negated;
}

function rangesOf(members: readonly string[]): readonly (readonly [low: string, high: string])[] {
  const ranges: [string, string][] = [];
  for (let index = 0; index < members.length; index++) {
    const low = literal(members[index]!);
    const isRange = members[index + 1] === '-' && index + 2 < members.length;
    const high = isRange ? literal(members[index + 2]!) : low;
    if (low > high) throw new SyntaxError(`the range ${low}-${high} is the wrong way round`);
    if (isRange) index += 2;
    ranges.push([low, high]);
  }
  return ranges;
}

function literal(member: string): string {
  return member.startsWith('\\') && member.length > 1 ? member.slice(1) : member;
}

export function matches(glob: Glob, path: string): boolean {
  const parts = path.split('/');
  return (
    parts.length === glob.length &&
    glob.every((tokens, index) => matchesPart(tokens, Array.from(parts[index]!)))
  );
}

/** Goes back to the last `*` only, which is enough: the time is bounded by the product of the lengths, whatever the pattern. */
function matchesPart(tokens: readonly Token[], characters: readonly string[]): boolean {
  let star = -1;
  let resume = 0;
  let at = 0;
  for (let index = 0; index < characters.length;) {
    const token = tokens[at];
    if (token === '*') {
      star = at++;
      resume = index;
    } else if (token?.(characters[index]!) === true) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  return tokens.slice(at).every((token) => token === '*');
}
