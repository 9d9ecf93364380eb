/**
 * Keywords that `add server` takes, with the number of words that follow. Others need the server to stand in the file at a reload;
 * so do `disabled` and `weight` among them, since at run time the server's own state and weight are told, and agent checks, which
 * would not begin.
 */
const addable: Readonly<Record<string, number>> = {
  addr: 1,
  alpn: 1,
  backup: 0,
  'ca-file': 1,
  check: 0,
  'check-sni': 1,
  'check-ssl': 0,
  cookie: 1,
  downinter: 1,
  fall: 1,
  fastinter: 1,
  'hash-key': 1,
  'init-state': 1,
  inter: 1,
  maxconn: 1,
  maxqueue: 1,
  minconn: 1,
  'no-check-sni-auto': 0,
  'no-sni-auto': 0,
  observe: 1,
  'on-marked-down': 1,
  'pool-max-conn': 1,
  port: 1,
  proto: 1,
  rise: 1,
  'send-proxy-v2': 0,
  shard: 1,
  slowstart: 1,
  sni: 1,
  source: 1,
  ssl: 0,
  verify: 1,
};

/** Why a server with these keywords cannot be added at run time; undefined where it can. */
export function whyNotAddable(keywords: readonly string[]): string | undefined {
  for (let at = 0; at < keywords.length;) {
    const word = keywords[at]!;
    if (!Object.hasOwn(addable, word)) return `server keyword "${word}" is not known to be taken at run time`;
    if (word === 'ca-file' && !keywords[at + 1]?.startsWith('@')) {
      return 'server keyword "ca-file": only files that were loaded at start are found at run time';
    }
    at += 1 + addable[word]!;
  }
  if (keywords.includes('ssl') && !keywords.includes('verify')) {
    return 'server keyword "ssl" needs "verify" beside it';
  }
  return undefined;
}

/** What keywords say in the file where the server itself says it, too: they come last in the line, and count. */
export function saidByKeywords(keywords: readonly string[]): {
  readonly weight: boolean;
  readonly state: boolean;
} {
  return {
    weight: keywords.includes('weight'),
    state: keywords.includes('disabled') || keywords.includes('enabled'),
  };
}

/** Whether one of these words, not being the value of another, is `check`. Only for keywords that are addable. */
export function hasHealthChecks(keywords: readonly string[]): boolean {
  for (let at = 0; at < keywords.length; at += 1 + (addable[keywords[at]!] ?? 0)) {
    if (keywords[at] === 'check') return true;
  }
  return false;
}
