import { SiteError } from './site-error.ts';
import { costs, makingCost } from './costs.ts';
import type { StepCounter } from './step-counter.ts';
import { bounded, boundedList, kindOf, text } from './values.ts';

/** What operators of expressions do. The last argument of each is the place to name when it cannot; `rt` counts what they make. */

function numbers(operator: string, a: unknown, b: unknown, site: number): void {
  if (typeof a === 'number' && typeof b === 'number') return;
  throw new SiteError(site, `"${operator}" takes two numbers, not ${kindOf(a)} and ${kindOf(b)}`);
}

/** A text that was put together, paid for. */
function joined(value: string, rt: StepCounter, site: number): string {
  rt.charge(makingCost(value), site);
  return bounded(value, site);
}

export function add(a: unknown, b: unknown, rt: StepCounter, site: number): string | number {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (typeof a === 'string' && typeof b === 'string') return joined(a + b, rt, site);
  if (typeof a !== 'string' && typeof b !== 'string') {
    throw new SiteError(site, `"+" takes two numbers, or texts, not ${kindOf(a)} and ${kindOf(b)}`);
  }
  return joined(text(a, site) + text(b, site), rt, site);
}

export function subtract(a: unknown, b: unknown, site: number): number {
  numbers('-', a, b, site);
  return (a as number) - (b as number);
}

export function multiply(a: unknown, b: unknown, site: number): number {
  numbers('*', a, b, site);
  return (a as number) * (b as number);
}

export function divide(a: unknown, b: unknown, site: number): number {
  numbers('/', a, b, site);
  return (a as number) / (b as number);
}

export function remainder(a: unknown, b: unknown, site: number): number {
  numbers('%', a, b, site);
  return (a as number) % (b as number);
}

export function power(a: unknown, b: unknown, site: number): number {
  numbers('**', a, b, site);
  return (a as number) ** (b as number);
}

/** -1, 0 or 1; texts by code units. */
export function compare(a: unknown, b: unknown, site: number): number {
  if ((typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string')) {
    return a < b ? -1 : a > b ? 1 : a === b ? 0 : Number.NaN;
  }
  throw new SiteError(
    site,
    `only two numbers or two texts can be compared, not ${kindOf(a)} and ${kindOf(b)}`,
  );
}

export function isIn(key: unknown, object: unknown, site: number): boolean {
  if (typeof object !== 'object' || object === null || Array.isArray(object) || typeof key !== 'string') {
    throw new SiteError(site, `"in" takes a text and an object, not ${kindOf(key)} and ${kindOf(object)}`);
  }
  return Object.hasOwn(object, key);
}

export function negate(value: unknown, site: number): number {
  if (typeof value !== 'number') throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a number`);
  return -value;
}

export function positive(value: unknown, site: number): number {
  if (typeof value !== 'number') {
    throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a number; see the helper number(text)`);
  }
  return value;
}

/** A template literal: texts with values between them. */
export function interpolate(
  texts: readonly string[],
  values: readonly unknown[],
  rt: StepCounter,
  site: number,
): string {
  let result = texts[0]!;
  for (let i = 0; i < values.length; i++) {
    result = joined(result + text(values[i], site) + texts[i + 1]!, rt, site);
  }
  return result;
}

/** What `...value` stands for in a list. */
export function spreadList(value: unknown, rt: StepCounter, site: number): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a list after "..."`);
  }
  rt.charge(value.length * costs.item, site);
  return boundedList(value, site);
}

/** What `...value` stands for in an object. */
export function spreadObject(value: unknown, rt: StepCounter, site: number): object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SiteError(site, `"{}" is ${kindOf(value)}, expected an object after "..."`);
  }
  rt.charge(Object.keys(value).length * costs.item, site);
  return value;
}

/** A computed key of an object. */
export function objectKey(value: unknown, site: number): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return String(value);
  throw new SiteError(site, `"{}" is ${kindOf(value)}, expected a text as key`);
}

export function checkList(list: readonly unknown[], site: number): readonly unknown[] {
  return boundedList(list, site);
}
