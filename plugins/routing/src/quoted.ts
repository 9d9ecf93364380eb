/** A user's text within a message: on one line, and not longer than a message should be. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
