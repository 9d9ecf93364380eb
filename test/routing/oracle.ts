/**
 * A second opinion on routing, written from the specifications (Ingress v1, Gateway API, the precedence and tenancy rules of
 * docs/routing.md). It shares nothing with the compiler: it looks at every rule for every request.
 */
import type { Rule } from './case-table.ts';

export interface Request {
  readonly listener: Rule['listener'];
  readonly method: string;
  readonly host: string;
  /** As sent, with its query. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
}

export type HostTenancy = 'shared' | 'strict';

/** The rule that answers, or undefined: 404. */
export function decide(rules: readonly Rule[], request: Request, tenancy: HostTenancy): Rule | undefined {
  const allowed = tenancy === 'shared' ? rules : rules.filter((rule) => ownsHost(rule, rules));
  const inForce = allowed.filter((rule) => !allowed.some((other) => other !== rule && shadows(other, rule)));
  const { listener } = request;
  const host = hostOf(request.host);
  const ranked = inForce.map((rule) => ({ rule, rank: hostRank(rule, host) }));
  const reachable = ranked.filter(({ rule, rank }) => rule.listener === listener && rank > 0);
  const nearest = Math.max(...reachable.map(({ rank }) => rank));
  const tenants = reachable.filter(({ rank }) => rank === nearest).map(({ rule }) => rule.namespace);
  const visible = reachable.filter(({ rule, rank }) => {
    return listener === 'gateway' || rank === nearest || tenants.includes(rule.namespace);
  });
  const matching = visible.filter(({ rule }) => pathMatches(rule, request) && conditionsHold(rule, request));
  return matching.sort((a, b) => b.rank - a.rank || before(a.rule, b.rule))[0]?.rule;
}

/** Whether the namespace of an Ingress's rule was the first one with that host. */
function ownsHost(rule: Rule, rules: readonly Rule[]): boolean {
  if (rule.host === null || rule.listener === 'gateway') return true;
  const ofHost = rules.filter((other) => {
    return other.listener === 'ingress' && other.host === rule.host && other.wildcard === rule.wildcard;
  });
  return ofHost.sort(older)[0]?.namespace === rule.namespace;
}

function hostOf(header: string): string {
  const name = header.startsWith('[') ? header : header.replace(/:.*$/, '');
  return name.toLowerCase().replace(/\.+$/, '');
}

/** 0: not for this host. Otherwise the higher the more specific. */
function hostRank({ host, wildcard }: Rule, requested: string): number {
  if (host === null) return 1;
  if (!host.startsWith('*.')) return host === requested ? 1000 : 0;
  const parent = host.slice(1);
  if (!requested.endsWith(parent) || requested.length === parent.length) return 0;
  const labels = parent.split('.').length;
  const oneLabel = !requested.slice(0, -parent.length).includes('.');
  if (wildcard === 'suffix') return 2 * labels;
  return oneLabel ? 2 * labels + 1 : 0;
}

/** The path that decides: RFC 3986 normal form, then runs of slashes as one. */
export function normalPath(target: string): string {
  const raw = target.split('?')[0] ?? '';
  const decoded = raw.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = decodeURIComponentOrSelf(escape);
    return /[\w.~-]/.test(character) && character.length === 1 ? character : escape.toUpperCase();
  });
  const out: string[] = [];
  const parts = decoded.split('/').slice(1);
  parts.forEach((part, index) => {
    const last = index === parts.length - 1;
    if (part === '..') out.splice(-1);
    if (part !== '.' && part !== '..') out.push(part);
    else if (last) out.push('');
  });
  return `/${out.filter((part, index) => part !== '' || index === out.length - 1).join('/')}`;
}

function decodeURIComponentOrSelf(escape: string): string {
  try {
    return decodeURIComponent(escape);
  } catch {
    return escape;
  }
}

function pathMatches({ path }: Rule, { target }: Request): boolean {
  if (path === undefined) return true;
  const requested = normalPath(target);
  if (path.type === 'regex') return new RegExp(`^(?:${path.value})`).test(requested);
  const wanted = normalPath(path.value.replaceAll(' ', '%20'));
  if (path.type === 'exact') return requested === wanted;
  const elements = wanted.split('/').filter((element) => element !== '');
  const given = requested
    .split('/')
    .filter((element, index, all) => element !== '' || index < all.length - 1);
  return elements.every((element, index) => given[index + 1] === element);
}

function conditionsHold({ conditions = {} }: Rule, { method, target, headers }: Request): boolean {
  const { method: wanted, headers: wantedHeaders = [], query = [] } = conditions;
  if (wanted !== undefined && wanted !== method) return false;
  const headerHolds = wantedHeaders.every(({ name, match, value }) => {
    const values = headers.filter(([given]) => given.toLowerCase() === name.toLowerCase());
    return values.length > 0 && valueHolds(match, value, values.map(([, text]) => text.trim()).join(','));
  });
  const parameters = [...new URLSearchParams(target.split('?').slice(1).join('?'))];
  return (
    headerHolds &&
    query.every(({ name, match, value }) => {
      const first = parameters.find(([given]) => given === name);
      return first !== undefined && valueHolds(match, value, first[1]);
    })
  );
}

function valueHolds(match: 'exact' | 'regex', wanted: string, given: string): boolean {
  return match === 'exact' ? given === wanted : new RegExp(`^(?:${wanted})$`).test(given);
}

/** Whether two rules ask for the same, and the first one has the right of the older. */
function shadows(first: Rule, second: Rule): boolean {
  const same =
    first.listener === second.listener &&
    first.host === second.host &&
    (first.wildcard ?? '') === (second.wildcard ?? '') &&
    pathIdentity(first) === pathIdentity(second) &&
    conditionIdentity(first) === conditionIdentity(second);
  return same && older(first, second) < 0;
}

function pathIdentity({ path = { type: 'prefix', value: '/' } }: Rule): string {
  if (path.type === 'regex') return `regex ${path.value}`;
  const normal = normalPath(path.value);
  return `${path.type} ${path.type === 'prefix' ? normal.replace(/\/$/, '') : normal}`;
}

function conditionIdentity({ conditions = {} }: Rule): string {
  const { method = '', headers = [], query = [] } = conditions;
  const headerTexts = headers.map(({ name, match, value }) => `${name.toLowerCase()} ${match} ${value}`);
  const queryTexts = query.map(({ name, match, value }) => `${name} ${match} ${value}`);
  return JSON.stringify([method, headerTexts.sort(), queryTexts.sort()]);
}

/** Gateway API precedence, with regular expressions between exact and prefix. */
function before(a: Rule, b: Rule): number {
  return (
    pathWeight(b) - pathWeight(a) ||
    pathLength(b) - pathLength(a) ||
    Number(b.conditions?.method !== undefined) - Number(a.conditions?.method !== undefined) ||
    (b.conditions?.headers?.length ?? 0) - (a.conditions?.headers?.length ?? 0) ||
    (b.conditions?.query?.length ?? 0) - (a.conditions?.query?.length ?? 0) ||
    older(a, b)
  );
}

function pathWeight({ path }: Rule): number {
  return { exact: 3, regex: 2, prefix: 1 }[path?.type ?? 'prefix'];
}

function pathLength({ path = { type: 'prefix', value: '/' } }: Rule): number {
  if (path.type === 'regex') return path.value.length;
  return normalPath(path.value).replace(/\/$/, '').length;
}

function older(a: Rule, b: Rule): number {
  return (
    (a.age ?? 0) - (b.age ?? 0) ||
    byCodeUnits(a.namespace ?? '', b.namespace ?? '') ||
    byCodeUnits(a.name ?? '', b.name ?? '') ||
    a.order - b.order
  );
}

function byCodeUnits(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
