import { didYouMean } from '../../contract/index.ts';
import { limits } from './limits.ts';
import { SiteError } from './site-error.ts';
import { bounded, boundedList, kindOf, text } from './values.ts';

/** A method of plain data. `site` is where it is called; arguments come unchecked. */
type Method<T> = (value: T, args: readonly unknown[], site: number) => unknown;
type Callback = (...args: readonly unknown[]) => unknown;

/** Levels that `flat` takes away at most: more than anybody nests. */
const DEEPEST_FLAT = 20;

function stringArg(args: readonly unknown[], index: number, site: number): string {
  const value = args[index];
  if (typeof value === 'string') return value;
  throw new SiteError(site, `argument ${index + 1} of "{}" is ${kindOf(value)}, expected a text`);
}

function numberArg(args: readonly unknown[], index: number, site: number): number {
  const value = args[index];
  if (typeof value === 'number') return value;
  throw new SiteError(site, `argument ${index + 1} of "{}" is ${kindOf(value)}, expected a number`);
}

function optionalNumber(args: readonly unknown[], index: number, site: number): number | undefined {
  return args[index] === undefined ? undefined : numberArg(args, index, site);
}

function functionArg(args: readonly unknown[], site: number): Callback {
  const [value] = args;
  if (typeof value === 'function') return value as Callback;
  throw new SiteError(site, `argument 1 of "{}" is ${kindOf(value)}, expected a function: item => …`);
}

/** Before a text is built. */
function checkLength(length: number, site: number): void {
  if (!(length <= limits.text))
    throw new SiteError(site, `"{}" becomes longer than ${limits.text} characters`);
}

function pad(value: string, args: readonly unknown[], site: number): string {
  const length = numberArg(args, 0, site);
  const missing = Math.max(0, Math.floor(length) - value.length);
  const filler = args[1] === undefined ? ' ' : stringArg(args, 1, site);
  checkLength(missing, site);
  return filler === '' ? '' : filler.repeat(Math.ceil(missing / filler.length)).slice(0, missing);
}

function repeat(value: string, args: readonly unknown[], site: number): string {
  const count = numberArg(args, 0, site);
  if (!Number.isInteger(count) || count < 0)
    throw new SiteError(site, 'argument 1 of "{}" must be 0 or more');
  checkLength(value.length * count, site);
  return value.repeat(count);
}

const textMethods: Readonly<Record<string, Method<string>>> = {
  at: (value, args, site) => value.at(numberArg(args, 0, site)),
  concat: (value, args, site) => bounded(value + args.map((part) => text(part, site)).join(''), site),
  endsWith: (value, args, site) => value.endsWith(stringArg(args, 0, site)),
  includes: (value, args, site) => value.includes(stringArg(args, 0, site)),
  indexOf: (value, args, site) => value.indexOf(stringArg(args, 0, site)),
  padEnd: (value, args, site) => bounded(value + pad(value, args, site), site),
  padStart: (value, args, site) => bounded(pad(value, args, site) + value, site),
  repeat: (value, args, site) => bounded(repeat(value, args, site), site),
  // A function as replacement keeps `$&` and its kind what they are: text.
  replace: (value, args, site) => {
    const replacement = stringArg(args, 1, site);
    return bounded(
      value.replace(stringArg(args, 0, site), () => replacement),
      site,
    );
  },
  replaceAll: (value, args, site) =>
    replaceAll(value, stringArg(args, 0, site), stringArg(args, 1, site), site),
  slice: (value, args, site) => value.slice(optionalNumber(args, 0, site), optionalNumber(args, 1, site)),
  split: (value, args, site) => boundedList(value.split(stringArg(args, 0, site)), site),
  startsWith: (value, args, site) => value.startsWith(stringArg(args, 0, site)),
  substring: (value, args, site) => value.substring(numberArg(args, 0, site), optionalNumber(args, 1, site)),
  toLowerCase: (value) => value.toLowerCase(),
  toUpperCase: (value) => value.toUpperCase(),
  trim: (value) => value.trim(),
  trimEnd: (value) => value.trimEnd(),
  trimStart: (value) => value.trimStart(),
};

function replaceAll(value: string, search: string, replacement: string, site: number): string {
  const parts = value.split(search);
  // Known before it is built: each hit may add a whole text.
  checkLength(parts.length * replacement.length, site);
  return bounded(parts.join(replacement), site);
}

/** Numbers as numbers, texts by code units; anything else needs a function that compares. */
function compareItems(site: number): (a: unknown, b: unknown) => number {
  return (a, b) => {
    const comparable =
      (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
    if (!comparable) {
      throw new SiteError(
        site,
        `"{}" cannot order ${kindOf(a)} and ${kindOf(b)}; give a function: (a, b) => …`,
      );
    }
    return a < b ? -1 : a > b ? 1 : 0;
  };
}

function sorted(list: readonly unknown[], args: readonly unknown[], site: number): unknown[] {
  if (args.length === 0) return list.toSorted(compareItems(site));
  const order = functionArg(args, site);
  return list.toSorted((a, b) => {
    const result = order(a, b);
    if (typeof result === 'number') return result;
    throw new SiteError(site, `the function of "{}" yields ${kindOf(result)}, expected a number`);
  });
}

function reduce(list: readonly unknown[], args: readonly unknown[], site: number): unknown {
  const combine = functionArg(args, site);
  if (args.length < 2) throw new SiteError(site, '"{}" needs a second argument: what it begins with');
  return list.reduce((sum, item, index) => combine(sum, item, index), args[1]);
}

function join(list: readonly unknown[], separator: string, site: number): string {
  let length = 0;
  const parts = list.map((item) => {
    const part = text(item, site);
    length += part.length + separator.length;
    checkLength(length - separator.length, site);
    return part;
  });
  return parts.join(separator);
}

/** The limit is looked at while the list grows: lists that hold one list many times grow with every level. */
function flat(list: readonly unknown[], levels: number, site: number): readonly unknown[] {
  const result: unknown[] = [];
  const visit = (items: readonly unknown[], depth: number): void => {
    for (const item of items) {
      if (Array.isArray(item) && depth < levels) visit(item, depth + 1);
      else if (result.push(item) > limits.list) boundedList(result, site);
    }
  };
  visit(list, 0);
  return result;
}

const listMethods: Readonly<Record<string, Method<readonly unknown[]>>> = {
  at: (list, args, site) => list.at(numberArg(args, 0, site)),
  concat: (list, args, site) => boundedList(list.concat(...args), site),
  every: (list, args, site) => {
    const test = functionArg(args, site);
    return list.every((item, index) => test(item, index));
  },
  filter: (list, args, site) => {
    const test = functionArg(args, site);
    return list.filter((item, index) => test(item, index));
  },
  find: (list, args, site) => {
    const test = functionArg(args, site);
    return list.find((item, index) => test(item, index));
  },
  flat: (list, args, site) => {
    const levels = optionalNumber(args, 0, site) ?? 1;
    if (levels <= DEEPEST_FLAT) return flat(list, levels, site);
    throw new SiteError(site, `argument 1 of "{}" must be ${DEEPEST_FLAT} or less`);
  },
  flatMap: (list, args, site) => {
    const map = functionArg(args, site);
    return boundedList(
      list.flatMap((item, index) => map(item, index)),
      site,
    );
  },
  includes: (list, args) => list.includes(args[0]),
  indexOf: (list, args) => list.indexOf(args[0]),
  join: (list, args, site) => join(list, args[0] === undefined ? ',' : stringArg(args, 0, site), site),
  keys: (list) => [...list.keys()],
  map: (list, args, site) => {
    const map = functionArg(args, site);
    return list.map((item, index) => map(item, index));
  },
  reduce,
  slice: (list, args, site) => list.slice(optionalNumber(args, 0, site), optionalNumber(args, 1, site)),
  some: (list, args, site) => {
    const test = functionArg(args, site);
    return list.some((item, index) => test(item, index));
  },
  toReversed: (list) => list.toReversed(),
  toSorted: sorted,
};

const numberMethods: Readonly<Record<string, Method<number>>> = {
  toFixed: (value, args, site) => {
    const digits = optionalNumber(args, 0, site) ?? 0;
    if (Number.isInteger(digits) && digits >= 0 && digits <= 100) return value.toFixed(digits);
    throw new SiteError(site, 'argument 1 of "{}" must be between 0 and 100');
  },
};

/** Every method that some value has. */
export const methodNames: ReadonlySet<string> = new Set([
  ...Object.keys(textMethods),
  ...Object.keys(listMethods),
  ...Object.keys(numberMethods),
]);

/** Those whose first argument may be a function. */
export const takesFunction: ReadonlySet<string> = new Set([
  'every',
  'filter',
  'find',
  'flatMap',
  'map',
  'reduce',
  'some',
  'toSorted',
]);

function methodsOf(value: unknown): Readonly<Record<string, Method<never>>> | undefined {
  if (typeof value === 'string') return textMethods;
  if (Array.isArray(value)) return listMethods;
  return typeof value === 'number' ? numberMethods : undefined;
}

export function hasMethod(value: unknown, name: string): boolean {
  return Object.hasOwn(methodsOf(value) ?? {}, name);
}

/** `value.name(args)` of plain data. */
export function callMethod(value: unknown, name: string, args: readonly unknown[], site: number): unknown {
  const methods = methodsOf(value);
  const method = methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (method !== undefined) return method(value as never, args, site);
  const hint = didYouMean(name, Object.keys(methods ?? {}));
  throw new SiteError(site, `${kindOf(value)} has no method "${name}"${hint}`);
}
