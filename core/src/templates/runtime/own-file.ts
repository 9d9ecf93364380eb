import { fileKeywords } from '../text/directives.ts';

/** What `path(kind, name)` yields, and names of what HAProxy has loaded (`@system-ca`). */
const ownFile = /^(?:@[\w.-]+|(?:\w[\w.-]*\/)*\w[\w.-]*)$/;

/** The first word that names a file which is none of the project's own; undefined when there is none. */
export function foreignFile(words: readonly string[]): string | undefined {
  return words.find((word, i) => i > 0 && fileKeywords.has(words[i - 1]!) && !ownFile.test(word));
}
