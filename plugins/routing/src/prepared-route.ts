import { backendName, backendProblem } from './backend.ts';
import { conditionProblem, conditionText, encodeText, pathRegexText } from './condition.ts';
import { digest } from './digest.ts';
import { coveringTables, hostKey, isValidHost } from './host.ts';
import type { MapEntry } from './map-entry.ts';
import { canonicalPath, exactKey, pathProblem, prefixKey } from './path.ts';
import { quoted } from './quoted.ts';
import { redirectProblem, redirectText } from './redirect.ts';
import type { BackendRef, Destination, Route } from './route.ts';
import { routeName } from './shadow.ts';
import { letterShares, mostTargets } from './weights.ts';

const objectName = /^[A-Za-z0-9._:-]{1,253}$/;
const portKey = /^[a-z0-9]{1,32}$/;
const longestRegex = 1024;
/** Text of one rule in a list: several of them must fit into a map line. */
const longestRule = 8000;

/** A route with everything that does not depend on other routes worked out. */
export interface PreparedRoute {
  readonly route: Route;
  /** `namespace/name/rule` */
  readonly name: string;
  /** Stands in values that carry their route's identity: `=` and a digest. */
  readonly id: string;
  /** `<port key>/<host key>` */
  readonly table: string;
  /** The tables of all patterns that cover its hosts, its own first, from most to least specific. */
  readonly covering: readonly string[];
  /** Key below the table; the pattern of a regex. */
  readonly pathKey: string;
  readonly conditions: string;
  readonly counts: { readonly method: number; readonly header: number; readonly query: number };
  /** What `paths.map` holds when nothing else has to be looked at. */
  readonly value: string;
  /** The route in a list: conditions, and a value with the route's identity. */
  readonly rule: string;
  readonly weights: readonly MapEntry[];
  readonly redirects: readonly MapEntry[];
  readonly backends: readonly { readonly name: string; readonly ref: BackendRef }[];
}

const prepared = new WeakMap<Route, PreparedRoute | { readonly problem: string }>();

/** Works a route out once; later calls with the identical route cost nothing. */
export function prepareRoute(route: Route): PreparedRoute | { readonly problem: string } {
  let result = prepared.get(route);
  if (result === undefined) {
    result = prepare(route);
    prepared.set(route, result);
  }
  return result;
}

function prepare(route: Route): PreparedRoute | { readonly problem: string } {
  const problem = routeProblem(route);
  if (problem !== undefined) return { problem };
  const { origin, listener, host, path, conditions } = route;
  const { object, rule } = origin;
  const redirects = route.targets.flatMap(({ to }) => {
    return to.kind === 'redirect' ? [redirectText(to.redirect, path)] : [];
  });
  // The id names what is looked up by it, too: an entry of a map never changes its meaning.
  const id = `=${digest(JSON.stringify([object.kind, object.namespace, object.name, rule, redirects]))}`;
  const target = targetValue(route, id);
  const text = conditionText(conditions);
  const regex = path.kind === 'regex' ? [pathRegexText(path.value)] : [];
  const result: PreparedRoute = {
    route,
    name: routeName(origin),
    id,
    table: `${listener.portKey}/${hostKey(host)}`,
    covering: coveringTables(listener.portKey, host),
    pathKey: pathKeyOf(route),
    conditions: text,
    counts: {
      method: countOf(route, 'method'),
      header: countOf(route, 'header'),
      query: countOf(route, 'query'),
    },
    value: target.value,
    rule: `${[...regex, ...(text === '' ? [] : [text])].join('&')}>${encodeText(target.tagged)}`,
    weights: target.weights,
    redirects: redirects.map((value) => ({ key: id, value, objects: [object] })),
    backends: route.targets.flatMap(({ to }) => {
      return to.kind === 'backend' ? [{ name: backendName(to.backend), ref: to.backend }] : [];
    }),
  };
  if (result.rule.length > longestRule) return { problem: 'its conditions are too long together' };
  return result;
}

function routeProblem(route: Route): string | undefined {
  const { origin, listener, host, path, conditions, targets } = route;
  if (!objectName.test(origin.object.name)) return `${quoted(origin.object.name)} is no object's name`;
  if (!objectName.test(origin.object.namespace)) return `${quoted(origin.object.namespace)} is no namespace`;
  if (!portKey.test(listener.portKey)) return `${quoted(listener.portKey)} is no port key`;
  if (!isValidHost(host)) return 'the host is no DNS name';
  return (
    (path.kind === 'regex' ? regexProblem(path.value) : pathProblem(path.value)) ??
    conditions.map(conditionProblem).find((problem) => problem !== undefined) ??
    targetsProblem(targets, path)
  );
}

function regexProblem(pattern: string): string | undefined {
  if (pattern === '' || !pattern.isWellFormed()) return 'the regular expression is empty or not Unicode';
  if (pattern.length > longestRegex)
    return `the regular expression is longer than ${longestRegex} characters`;
  return undefined;
}

function targetsProblem(targets: Route['targets'], path: Route['path']): string | undefined {
  const redirects = targets.filter(({ to }) => to.kind === 'redirect');
  if (redirects.length > 0 && targets.length > 1) return 'a redirect must be its only target';
  if (targets.length > mostTargets) return `it has more than ${mostTargets} targets`;
  for (const { to, weight } of targets) {
    if (!Number.isInteger(weight) || weight < 0 || weight > 1_000_000) return `${weight} is no weight`;
    const problem = destinationProblem(to, path);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function destinationProblem(to: Destination, path: Route['path']): string | undefined {
  if (to.kind === 'status') return undefined;
  return to.kind === 'backend' ? backendProblem(to.backend) : redirectProblem(to.redirect, path);
}

function pathKeyOf({ path: { kind, value } }: Route): string {
  if (kind === 'regex') return value;
  return kind === 'exact' ? exactKey(canonicalPath(value)) : prefixKey(canonicalPath(value));
}

function countOf({ conditions }: Route, kind: Route['conditions'][number]['kind']): number {
  return conditions.filter((condition) => condition.kind === kind).length;
}

/** The route's value, plain and with its identity, and what it needs in `weights.map`. */
function targetValue(
  { origin, targets }: Route,
  id: string,
): { readonly value: string; readonly tagged: string; readonly weights: readonly MapEntry[] } {
  const served = targets.filter(({ weight }) => weight > 0);
  const [only, second] = served;
  if (second === undefined) {
    const name = only === undefined ? '_500' : destinationName(only.to);
    const tagged = `${name}|${id}|`;
    return { value: only?.to.kind === 'redirect' ? tagged : name, tagged, weights: [] };
  }
  const { text, letters } = letterShares(targets.map(({ weight }) => weight));
  const values = targets.flatMap(({ to }, index) => {
    const letter = letters[index];
    return letter === undefined ? [] : [[letter, `${destinationName(to)}|${id}|`] as const];
  });
  const key = `%${digest(JSON.stringify([text, values]))}`;
  const objects = [origin.object];
  const weights = [
    { key, value: text, objects },
    ...values.map(([letter, value]) => ({ key: `${key}|${letter}`, value, objects })),
  ];
  return { value: `${key}|`, tagged: `${key}|`, weights };
}

function destinationName(to: Destination): string {
  if (to.kind === 'backend') return backendName(to.backend);
  return to.kind === 'status' ? `_${to.status}` : '_redirect';
}
