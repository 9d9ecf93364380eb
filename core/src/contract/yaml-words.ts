/** What the parser's words mean for somebody who does not know the grammar. */
const hints: Readonly<Record<string, string>> = {
  MULTILINE_IMPLICIT_KEY: 'is there no colon behind a key, or no quote around a text?',
  BLOCK_AS_IMPLICIT_KEY: 'is a text with a colon in it not quoted?',
};

/** A syntax error as an error message says it: the parser's words and, where they are the parser's own language, what to look for. */
export function yamlMessage({ code, message }: { readonly code: string; readonly message: string }): string {
  const hint = hints[code];
  return hint === undefined ? message : `${message}: ${hint}`;
}
