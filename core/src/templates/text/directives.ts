/**
 * What HAProxy makes of the arguments of its directives, as far as an escaper must know it; test/templates holds it against HAProxy.
 *
 * - `format`: a log-format, where `%` begins an expression.
 * - `file`: the name of a file that HAProxy opens.
 * - `address`: where HAProxy listens or connects; `unix@…` and `/…` name a file there.
 * - `unknown`: not probed; a value with `%` is refused there unless the template says what it is.
 */
export type Argument = 'plain' | 'format' | 'file' | 'address' | 'unknown';

export interface Directive {
  /** In order, directly after the directive's own words. */
  readonly positional: readonly Argument[];
  /** Keywords that may follow, with the arguments that each takes. */
  readonly keywords: Readonly<Record<string, readonly Argument[]>>;
}

function positional(...kinds: readonly Argument[]): Directive {
  return { positional: kinds, keywords: {} };
}

function keywords(table: Directive['keywords'], ...first: readonly Argument[]): Directive {
  return { positional: first, keywords: table };
}

const NAME_AND_FORMAT = positional('plain', 'format');
const FORMAT = positional('format');
const FILE = positional('file');
const ADDRESS = positional('address');

const reply = keywords({
  status: ['plain'],
  deny_status: ['plain'],
  'content-type': ['plain'],
  string: ['plain'],
  'lf-string': ['format'],
  file: ['file'],
  'lf-file': ['file'],
  errorfile: ['file'],
  errorfiles: ['plain'],
  hdr: ['plain', 'format'],
});

/** Actions of http-request, http-response and http-after-response. */
const httpActions: Readonly<Record<string, Directive>> = {
  'set-header': NAME_AND_FORMAT,
  'add-header': NAME_AND_FORMAT,
  'early-hint': NAME_AND_FORMAT,
  'replace-header': positional('plain', 'plain', 'format'),
  'replace-value': positional('plain', 'plain', 'format'),
  'replace-path': NAME_AND_FORMAT,
  'replace-pathq': NAME_AND_FORMAT,
  'replace-uri': NAME_AND_FORMAT,
  'set-path': FORMAT,
  'set-pathq': FORMAT,
  'set-query': FORMAT,
  'set-uri': FORMAT,
  'set-method': FORMAT,
  'set-var-fmt': FORMAT,
  'set-map': positional('format', 'format'),
  'del-map': FORMAT,
  'add-acl': FORMAT,
  'del-acl': positional('unknown'),
  redirect: keywords({
    location: ['format'],
    prefix: ['format'],
    scheme: ['format'],
    code: ['plain'],
    'set-cookie': ['plain'],
    'clear-cookie': ['plain'],
  }),
  return: reply,
  deny: reply,
  tarpit: reply,
};

const tcpActions: Readonly<Record<string, Directive>> = { 'set-var-fmt': FORMAT };

const checkReports: Directive['keywords'] = { 'on-success': ['unknown'], 'on-error': ['unknown'] };

const httpChecks: Readonly<Record<string, Directive>> = {
  connect: keywords({ addr: ['address'] }),
  send: keywords({ 'uri-lf': ['format'], 'body-lf': ['format'], hdr: ['plain', 'format'] }),
  expect: keywords(checkReports),
  'set-var-fmt': FORMAT,
};

const connect = keywords({ addr: ['address'] });

const tcpChecks: Readonly<Record<string, Directive>> = {
  connect,
  'send-lf': FORMAT,
  'send-binary-lf': positional('unknown'),
  expect: keywords(checkReports),
  'set-var-fmt': FORMAT,
};

/** Directives whose action is a later word: how many words stand before it. */
export const families: Readonly<
  Record<
    string,
    {
      readonly before: number;
      readonly actions: Readonly<Record<string, Directive>>;
      /** Lines of it may end in a condition. */
      readonly rule?: false;
    }
  >
> = {
  'http-request': { before: 1, actions: httpActions },
  'http-response': { before: 1, actions: httpActions },
  'http-after-response': { before: 1, actions: httpActions },
  'tcp-request': { before: 2, actions: tcpActions },
  'tcp-response': { before: 2, actions: tcpActions },
  'http-check': { before: 1, actions: httpChecks },
  'tcp-check': { before: 1, actions: tcpChecks },
  'external-check': { before: 1, actions: { command: FILE, path: FILE }, rule: false },
  stats: { before: 1, actions: { socket: keywords({}, 'address') }, rule: false },
};

/** Keywords of bind and server lines, and of certificate stores, whose next word is a file. */
const files: Directive['keywords'] = {
  crt: ['file'],
  'crt-list': ['file'],
  'ca-file': ['file'],
  'ca-verify-file': ['file'],
  'ca-sign-file': ['file'],
  'crl-file': ['file'],
  key: ['file'],
  ocsp: ['file'],
  issuer: ['file'],
  sctl: ['file'],
  ech: ['file'],
};

const serverKeywords: Directive['keywords'] = { ...files, addr: ['address'], source: ['address'] };

/** Of all other directives every argument is plain. */
export const directives: Readonly<Record<string, Directive>> = {
  'log-format': FORMAT,
  'log-format-sd': FORMAT,
  'error-log-format': FORMAT,
  'unique-id-format': FORMAT,
  use_backend: FORMAT,
  'use-server': FORMAT,
  'http-error': reply,
  errorfile: positional('plain', 'file'),
  bind: keywords(files, 'address'),
  'dgram-bind': ADDRESS,
  dispatch: ADDRESS,
  log: ADDRESS,
  mailer: positional('plain', 'address'),
  nameserver: positional('plain', 'address'),
  peer: keywords(serverKeywords, 'plain', 'address'),
  source: ADDRESS,
  server: keywords(serverKeywords, 'plain', 'address'),
  'server-template': keywords(serverKeywords, 'plain', 'plain', 'address'),
  'default-server': keywords(serverKeywords),
  load: keywords(files),
  'lua-load': FILE,
  'lua-load-per-thread': FILE,
  'lua-prepend-path': FILE,
  'server-state-file': FILE,
  'server-state-base': FILE,
  'crt-base': FILE,
  'ca-base': FILE,
  'key-base': FILE,
  'ssl-dh-param-file': FILE,
  'issuers-chain-path': FILE,
  'default-path': positional('plain', 'file'),
  chroot: FILE,
  pidfile: FILE,
  command: FILE,
  // Log profiles and filters have not been probed.
  on: positional('unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown'),
  filter: positional('unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown', 'unknown'),
};

/** Every keyword that names a file after it, whatever the directive: for lines whose directive is not known. */
export const fileKeywords: ReadonlySet<string> = new Set(
  Object.keys(files)
    .filter((keyword) => keyword !== 'key')
    .concat('file', 'lf-file', 'errorfile', '-f', 'lua-load', 'lua-load-per-thread'),
);

/** In the argument of what takes a file there: `map(…`, `map_str_int(…`, `set-map(…`, `add-acl(…`, `jwt_verify(alg,…`. */
export const fileArgument = /(?:map(?:_[a-z]+)*|-acl)\([^,)]*$|jwt_[a-z_]+\([^)]*$/;

/** In the argument of what a value named. */
export const namedByValue = /^[\w-]*\([^)]*$/;

/** Whether a word may be followed by the name of a file: a keyword, or a directive that takes one anywhere. */
export function namesFile(word: string): boolean {
  const directive = Object.hasOwn(directives, word) ? directives[word] : undefined;
  return fileKeywords.has(word) || directive?.positional.includes('file') === true;
}

/** Words that begin another section, wherever a line begins with them. */
export const sectionKeywords: ReadonlySet<string> = new Set([
  'backend',
  'cache',
  'crt-store',
  'defaults',
  'fcgi-app',
  'frontend',
  'global',
  'http-errors',
  'listen',
  'log-forward',
  'log-profile',
  'mailers',
  'peers',
  'program',
  'resolvers',
  'ring',
  'traces',
  'userlist',
  'acme',
]);
