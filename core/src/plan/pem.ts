const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/m;

/** PEM text with line ends as HAProxy writes them: Secrets come from everywhere. */
export function normalizePem(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

/** Why the text is no PEM file; undefined where it may be one. What stands in its blocks is HAProxy's to judge. */
export function pemFault(text: string): string | undefined {
  if (/[^\t\n\x20-\x7e\u00a0-\uffff]/.test(text)) return 'it holds control characters';
  const begin = BEGIN.exec(text);
  // Not by one expression over both ends: that takes the square of the length of a hostile text.
  const complete = begin !== null && text.includes(`\n-----END ${begin[1]}-----\n`, begin.index);
  return complete ? undefined : 'it holds no complete -----BEGIN …----- block';
}
