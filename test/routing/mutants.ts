/** Deliberate mistakes in the compiler, as edits of its source text. Each must be noticed by the tests of this folder. */
export interface Mutation {
  readonly what: string;
  /** In plugins/routing/src. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const mutations: readonly Mutation[] = [
  {
    what: 'fewer header conditions come first',
    file: 'precedence.ts',
    from: 'b.counts.header - a.counts.header',
    to: 'a.counts.header - b.counts.header',
  },
  {
    what: 'a method gives no precedence',
    file: 'precedence.ts',
    from: 'b.counts.method - a.counts.method',
    to: '0',
  },
  {
    what: 'younger routes come first',
    file: 'precedence.ts',
    from: 'return a === b ? 0 : a < b ? -1 : 1;\n}\n\n/** Code units',
    to: 'return a === b ? 0 : a < b ? 1 : -1;\n}\n\n/** Code units',
  },
  {
    what: 'the shortest regular expression comes first',
    file: 'precedence.ts',
    from: 'b.pathKey.length - a.pathKey.length',
    to: 'a.pathKey.length - b.pathKey.length',
  },
  {
    what: 'regular expressions come before exact paths',
    file: 'table.ts',
    from: 'exact ? [...own, ...patterns] : [...patterns, ...own]',
    to: '[...patterns, ...own]',
  },
  {
    what: 'shorter prefixes are no fall-back',
    file: 'table.ts',
    from: 'while (key !== undefined && !candidates.some(isUnconditional))',
    to: 'while (key !== undefined && candidates.length > 10_000)',
  },
  {
    what: 'regular expressions are looked at below a prefix rule only',
    file: 'table.ts',
    from: "if (regexes !== undefined) keys.add('/');",
    to: '',
  },
  {
    what: 'a prefix matches in the middle of a segment',
    file: 'path.ts',
    from: "canonical.endsWith('/') ? canonical : `${canonical}/`",
    to: 'canonical',
  },
  {
    what: 'an exact path matches below itself',
    file: 'path.ts',
    from: '`${canonical}/?`',
    to: '`${canonical}/`',
  },
  {
    what: "repeated slashes of a rule's path stay",
    file: 'path.ts',
    from: "path.replace(/\\/{2,}/g, '/')",
    to: 'path',
  },
  {
    what: "needless escapes of a rule's path stay",
    file: 'path.ts',
    from: 'unreserved.test(character) ? character : text.toUpperCase()',
    to: 'text.toUpperCase()',
  },
  {
    what: 'the regular expression of a header may match a part of its value',
    file: 'condition.ts',
    from: '^(?:${value})$',
    to: '(?:${value})',
  },
  {
    what: 'an exact host does not fall to a one-label wildcard',
    file: 'host.ts',
    from: "if (pattern.kind === 'exact' && parent !== undefined) keys.push(`~.${parent}`);",
    to: '',
  },
  {
    what: 'requests fall to rules of namespaces that have none on their host',
    file: 'tenancy.ts',
    from: "candidate.route.listener.fallThrough === 'listener' || namespaces.has(namespaceOf(candidate))",
    to: 'namespaces.size >= 0',
  },
  {
    what: 'strict tenancy lets everybody in',
    file: 'tenancy.ts',
    from: "tenancy === 'shared' || oldest === undefined",
    to: 'true',
  },
  {
    what: 'requests fall out of their listener',
    file: 'host-tables.ts',
    from: 'index <= border',
    to: 'index < covering.length',
  },
];
