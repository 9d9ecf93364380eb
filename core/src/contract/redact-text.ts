const WHOLE_SECRET = /"kind"\s*:\s*"Secret(List)?"/;

/** Parts of a text that are secret wherever they stand, with what is shown instead. Each needs linear time on any text. */
const patterns: readonly (readonly [RegExp, string])[] = [
  // An unfinished block is redacted to the end of the text: long values are cut.
  [/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g, '[redacted PEM]'],
  // The same in base64, as Secrets hold it.
  [/LS0tLS1CRUdJTi[A-Za-z0-9+/=\s]*/g, '[redacted PEM]'],
  [/\b(Bearer)\s+[A-Za-z0-9._~+/=-]+/gi, '$1 [redacted]'],
  // A capital, digit or `=` tells credentials from a word: "basic authentication".
  [/\b(Basic|basic|BASIC)\s+(?=\S*[A-Z0-9=])[A-Za-z0-9+/=]{6,}/g, '$1 [redacted]'],
  [/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*/g, '[redacted token]'],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]*:[^\s/@]+@/gi, '$1[redacted]@'],
  [/\b(token|password|passwd|secret|api_?key|access_?key)=[^\s&"']+/gi, '$1=[redacted]'],
];

/** The text without the secrets that can be told by their form. */
export function redactText(text: string): string {
  if (WHOLE_SECRET.test(text)) return '[redacted Secret]';
  let redacted = text;
  for (const [pattern, shown] of patterns) redacted = redacted.replace(pattern, shown);
  return redacted;
}
