import { sectionKeywords } from '../templates/text/directives.ts';

/**
 * What a backend may inherit from its profile. A backend added at run time takes everything from a `defaults` section, and each
 * directive here was tried there: add, serve a request, remove. Whatever is not listed stays in the backend's own body.
 */

/** Inherited and obeyed, whatever follows. */
const inherited: ReadonlySet<string> = new Set([
  'acl',
  'cookie',
  'dynamic-cookie-key',
  'errorfile',
  'errorloc',
  'errorloc302',
  'errorloc303',
  'fullconn',
  'hash-balance-factor',
  'hash-type',
  'http-after-response',
  'http-check',
  'http-error',
  'http-reuse',
  'log',
  'log-format',
  'retries',
  'retry-on',
  'source',
  'tcp-check',
  'timeout',
  'unique-id-format',
  'unique-id-header',
]);

/** Inherited and obeyed with these second words only. */
const inheritedOptions: ReadonlySet<string> = new Set([
  'abortonclose',
  'allbackups',
  'forwardfor',
  'http-buffer-request',
  'http-keep-alive',
  'http-server-close',
  'httpchk',
  'log-health-checks',
  'originalto',
  'prefer-last-server',
  'redispatch',
  'splice-auto',
  'tcp-check',
  'tcpka',
]);

/** Algorithms that take servers at run time as they are, and those that do with `hash-type consistent`. */
const dynamicBalance: ReadonlySet<string> = new Set(['leastconn', 'random', 'roundrobin']);
const consistentBalance: ReadonlySet<string> = new Set(['hash', 'hdr', 'source', 'uri', 'url_param']);

/** Actions of rules that name what a `defaults` section has not, or that the worker does not survive there. */
const ownActions: Readonly<Record<string, string>> = {
  'cache-store': 'the cache belongs to the backend',
  'cache-use': 'inherited it crashes the worker',
  capture: 'a runtime backend cannot inherit captures',
  'send-spoe-group': 'names a filter, which cannot be inherited',
  'set-bandwidth-limit': 'names a filter, which cannot be inherited',
};

/** Why a directive is known to do harm, or nothing, when a runtime backend inherits it. */
const harmful: Readonly<Record<string, string>> = {
  compression: 'has no effect on a runtime backend',
  'default-server': 'has no effect on servers added at run time',
  disabled: 'a disabled backend cannot be enabled at run time',
  errorfiles: 'inherited it crashes the worker',
};

/** Written by the plan itself, from the keys of the backend tag. */
const reserved: ReadonlySet<string> = new Set(['guid', 'mode', 'server']);

export type DirectiveVerdict =
  | { readonly kind: 'inherited' }
  /** Stays in the backend's own body: the backend cannot be added at run time. */
  | { readonly kind: 'own'; readonly reason: string }
  /** Has no business in a body. */
  | { readonly kind: 'refused'; readonly reason: string };

const INHERITED: DirectiveVerdict = { kind: 'inherited' };

/** A plain word of the language, up to an argument in parentheses or a Lua function's name; undefined for quoted and computed ones. */
function plainWord(word: string | undefined): string | undefined {
  return /^[a-z][a-z0-9_-]*(?=$|[(.])/.exec(word ?? '')?.[0];
}

function words(line: string): readonly string[] {
  return line.trim().split(/\s+/);
}

/** Their second word is part of the directive's name. */
const FAMILY = /^(?:balance|option|(?:http|tcp)-.*)$/;

/** A reason that begins with the directive's name. */
export function directiveReason(line: string, why: string): string {
  const [first = '', second] = words(line);
  const name = FAMILY.test(first) ? [first, plainWord(second)].filter(Boolean).join(' ') : first;
  return `${name}: ${why}`;
}

function own(line: string, why: string): DirectiveVerdict {
  return { kind: 'own', reason: directiveReason(line, why) };
}

/** Why a directive must not be inherited by a runtime backend, as far as is known; undefined where nothing is. */
export function harmWhenInherited(line: string, consistent: boolean): string | undefined {
  const [first = '', second] = words(line);
  const action = plainWord(second) ?? '';
  if (Object.hasOwn(harmful, first)) return harmful[first];
  if (first.startsWith('http-') || first.startsWith('tcp-')) {
    const word = action === 'content' ? (plainWord(words(line)[2]) ?? '') : action;
    return Object.hasOwn(ownActions, word) ? ownActions[word] : undefined;
  }
  if (first === 'option' && action === 'transparent') return 'such a backend cannot be removed at run time';
  if (first !== 'balance' || dynamicBalance.has(action) || (consistent && consistentBalance.has(action))) {
    return undefined;
  }
  return consistentBalance.has(action)
    ? 'takes servers at run time only with "hash-type consistent"'
    : 'does not take servers at run time';
}

/** Directives that speak of servers by name or make some, and one that servers added at run time would miss. */
const servers: Readonly<Record<string, string>> = {
  'default-server': 'has no effect on servers added at run time',
  'server-template': 'makes servers that only a reload can change',
  'use-server': 'names servers, which then cannot be removed at run time',
};

/** Why the servers of a backend with this directive, its own or inherited, change with a reload only; undefined where it does not matter. */
export function harmToServers(line: string, consistent: boolean): string | undefined {
  const [first = ''] = words(line);
  if (Object.hasOwn(servers, first)) return servers[first];
  return first === 'balance' ? harmWhenInherited(line, consistent) : undefined;
}

/** @param consistent Whether the body has `hash-type consistent`. */
export function judgeDirective(line: string, consistent: boolean): DirectiveVerdict {
  const [first = '', second, third] = words(line);
  if (reserved.has(first)) {
    return {
      kind: 'refused',
      reason: `"${first}" is written from the keys of the backend tag, not in its body`,
    };
  }
  // A body that holds one would end the backend.
  if (sectionKeywords.has(first)) return { kind: 'refused', reason: `"${first}" begins another section` };
  const harm = harmWhenInherited(line, consistent);
  if (harm !== undefined) return own(line, harm);
  const action = plainWord(second);
  const known =
    inherited.has(first) ||
    (first === 'balance' && action !== undefined) ||
    (first === 'option' && inheritedOptions.has(action ?? '')) ||
    ((first === 'http-request' || first === 'http-response') && action !== undefined) ||
    (first === 'tcp-request' && action === 'content' && plainWord(third) !== undefined);
  return known ? INHERITED : own(line, 'not known to be inherited by a runtime backend');
}
