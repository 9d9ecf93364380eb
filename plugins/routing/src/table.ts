import type { ObjectRef } from '@haptic/core/contract';
import { decisionList, type DecisionList } from './decision-list.ts';
import { uniqueEntries, type MapEntry } from './map-entry.ts';
import { parentPrefix } from './path.ts';
import { usedBackends, type UsedBackend } from './used-backend.ts';
import { compareAge, compareConditions, compareRegexes } from './precedence.ts';
import type { PreparedRoute } from './prepared-route.ts';
import { describeRoute, type Shadowed } from './shadow.ts';

/** Rules that a request may have to look through: of one path, and regular expressions of one host. */
const mostRulesOfPath = 1000;
const mostRegexes = 200;

/** What one table of `paths.map` compiles to. */
export interface Table {
  readonly name: string;
  /** The tables of all patterns that cover its hosts, its own first, from most to least specific. */
  readonly covering: readonly string[];
  /** The routes that are in force. */
  readonly routes: readonly PreparedRoute[];
  readonly namespaces: ReadonlySet<string>;
  readonly security: boolean;
  readonly paths: readonly MapEntry[];
  readonly lists: readonly MapEntry[];
  readonly weights: readonly MapEntry[];
  readonly redirects: readonly MapEntry[];
  /** The route behind a key whose value does not name it. */
  readonly keyIds: readonly MapEntry[];
  /** The routes that values name; several tables may have the same ones. */
  readonly routeIds: readonly MapEntry[];
  readonly backends: readonly UsedBackend[];
  readonly shadowed: readonly Shadowed[];
}

/** The routes of a table by the key that finds them; each list in order of precedence. */
interface Keyed {
  readonly paths: ReadonlyMap<string, readonly PreparedRoute[]>;
  readonly regexes: readonly PreparedRoute[];
}

/** Compiles the routes of one host, or those of them that fall-through may reach from another host. */
export function compileTable(name: string, routes: readonly PreparedRoute[]): Table {
  const { kept, shadowed } = withoutDuplicates(routes);
  const keyed = keyedRoutes(kept, shadowed);
  const inForce = [...keyed.regexes, ...[...keyed.paths.values()].flat()];
  const entries = pathEntries(name, keyed);
  return {
    name,
    covering: inForce[0]?.covering ?? [],
    routes: inForce,
    namespaces: new Set(inForce.map(({ route }) => route.origin.object.namespace)),
    security: inForce.some(({ route }) => route.security === true),
    ...entries,
    weights: uniqueEntries(inForce.map(({ weights }) => weights)),
    redirects: uniqueEntries(inForce.map(({ redirects }) => redirects)),
    backends: usedBackends(inForce),
    shadowed,
  };
}

/** Of routes with one path and equal conditions the oldest stays. */
function withoutDuplicates(routes: readonly PreparedRoute[]): {
  readonly kept: readonly PreparedRoute[];
  readonly shadowed: Shadowed[];
} {
  const first = new Map<string, PreparedRoute>();
  const shadowed: Shadowed[] = [];
  for (const candidate of routes.toSorted(compareAge)) {
    const key = JSON.stringify([candidate.route.path.kind, candidate.pathKey, candidate.conditions]);
    const winner = first.get(key);
    if (winner === undefined) first.set(key, candidate);
    else shadowed.push(shadowedBy(candidate, winner));
  }
  return { kept: [...first.values()], shadowed };
}

function shadowedBy({ route }: PreparedRoute, winner: PreparedRoute): Shadowed {
  const by = winner.route.origin;
  const rule = describeRoute(route);
  const message = `${rule} gets no traffic: ${describeRoute(winner.route)} has the same host, path and conditions and is older`;
  return { origin: route.origin, reason: 'RouteShadowed', message, by };
}

/** Takes routes by age, so that a limit meets the youngest; adds those that it meets to `shadowed`. */
function keyedRoutes(byAge: readonly PreparedRoute[], shadowed: Shadowed[]): Keyed {
  const paths = new Map<string, PreparedRoute[]>();
  const regexes: PreparedRoute[] = [];
  for (const candidate of byAge) {
    const regex = candidate.route.path.kind === 'regex';
    const rules = regex ? regexes : (paths.get(candidate.pathKey) ?? []);
    if (rules.length >= (regex ? mostRegexes : mostRulesOfPath)) {
      shadowed.push(oneTooMany(candidate, rules.length));
      continue;
    }
    rules.push(candidate);
    if (!regex) paths.set(candidate.pathKey, rules);
  }
  for (const rules of paths.values()) rules.sort(compareConditions);
  return { paths, regexes: regexes.sort(compareRegexes) };
}

function oneTooMany({ route }: PreparedRoute, limit: number): Shadowed {
  const what = route.path.kind === 'regex' ? 'regular expressions of one host' : 'rules of one host and path';
  const message = `${describeRoute(route)} gets no traffic: there are ${limit} older ${what}`;
  return { origin: route.origin, reason: 'TooManyRules', message };
}

function pathEntries(table: string, keyed: Keyed): Pick<Table, 'paths' | 'lists' | 'keyIds' | 'routeIds'> {
  const regexes = sharedRegexes(keyed.regexes);
  const paths: MapEntry[] = [];
  const lists: (readonly MapEntry[])[] = [];
  const keyIds: MapEntry[] = [];
  const routeIds: (readonly MapEntry[])[] = [];
  const keys = new Set(keyed.paths.keys());
  // A request that no path rule matches must still meet the regular expressions.
  if (regexes !== undefined) keys.add('/');
  for (const pathKey of keys) {
    const key = `${table}${pathKey}`;
    const candidates = candidatesOf(pathKey, keyed);
    const first = candidates.find((candidate) => candidate !== 'regexes');
    const plain = candidates[0] !== 'regexes' && first?.conditions === '' ? first : undefined;
    if (plain !== undefined) {
      paths.push({ key, value: plain.value, objects: objectsOf([plain]) });
      // A value of several parts, or its letters, names the route.
      if (plain.value.includes('|')) routeIds.push([taggedId(plain)]);
      else keyIds.push({ key, value: plain.name, objects: objectsOf([plain]) });
      continue;
    }
    const { list, routes } = listOf(candidates, keyed, regexes);
    paths.push({ key, value: `?${list.id}|`, objects: objectsOf(keyed.paths.get(pathKey) ?? keyed.regexes) });
    lists.push(list.entries);
    routeIds.push(routes.map(taggedId));
  }
  if (regexes !== undefined) lists.push(regexes.entries);
  return { paths, lists: uniqueEntries(lists), keyIds, routeIds: uniqueEntries(routeIds) };
}

type Candidate = PreparedRoute | 'regexes';

/** What may answer a request that finds this key, in order, up to the first that always does. */
function candidatesOf(pathKey: string, { paths, regexes }: Keyed): readonly Candidate[] {
  const own = paths.get(pathKey) ?? [];
  const patterns: readonly Candidate[] = regexes.length === 0 ? [] : ['regexes'];
  const exact = pathKey.endsWith('?');
  const candidates: Candidate[] = exact ? [...own, ...patterns] : [...patterns, ...own];
  let key = parentPrefix(pathKey, paths);
  while (key !== undefined && !candidates.some(isUnconditional)) {
    candidates.push(...(paths.get(key) ?? []));
    key = parentPrefix(key, paths);
  }
  const end = candidates.findIndex(isUnconditional);
  return end < 0 ? candidates : candidates.slice(0, end + 1);
}

function isUnconditional(candidate: Candidate): boolean {
  return candidate !== 'regexes' && candidate.conditions === '';
}

/** The regular expressions of a table are one list, which the lists of all its keys refer to. */
function sharedRegexes(regexes: readonly PreparedRoute[]): DecisionList | undefined {
  if (regexes.length === 0) return undefined;
  return decisionList(
    regexes.map(({ rule }) => rule),
    objectsOf(regexes),
  );
}

function listOf(
  candidates: readonly Candidate[],
  keyed: Keyed,
  regexes: DecisionList | undefined,
): { readonly list: DecisionList; readonly routes: readonly PreparedRoute[] } {
  const routes = candidates.flatMap((candidate) => (candidate === 'regexes' ? keyed.regexes : [candidate]));
  const rules = candidates.map((candidate) => {
    return candidate === 'regexes' ? `@${regexes?.id ?? ''}` : candidate.rule;
  });
  return { list: decisionList(rules, objectsOf(routes)), routes };
}

function taggedId(candidate: PreparedRoute): MapEntry {
  return { key: candidate.id, value: candidate.name, objects: objectsOf([candidate]) };
}

function objectsOf(routes: readonly PreparedRoute[]): readonly ObjectRef[] {
  return [...new Set(routes.map(({ route }) => route.origin.object))];
}
