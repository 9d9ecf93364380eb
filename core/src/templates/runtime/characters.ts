/**
 * Sets of ASCII characters. A look at each character of a short text takes a fifth of what a regular expression takes, and a
 * render looks at every value and every map entry.
 */
export type CharacterSet = Uint8Array;

export function characters(allowed: RegExp): CharacterSet {
  return Uint8Array.from({ length: 128 }, (_, code) => (allowed.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Whether a text holds nothing else; true for the empty one. */
export function holdsOnly(text: string, set: CharacterSet): boolean {
  for (let i = 0; i < text.length; i++) {
    // Codes beyond the set read as undefined.
    if (set[text.charCodeAt(i)] !== 1) return false;
  }
  return true;
}
