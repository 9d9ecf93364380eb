import { Refused } from './errors.ts';
import type { Labels } from './observability.ts';

export type LabelSelector = (labels: Labels | undefined) => boolean;

const KEY = String.raw`(?:[A-Za-z0-9.-]+\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`;
const VALUE = String.raw`(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?`;
const IN_SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s*\((.*)\)$`);
const COMPARED = new RegExp(String.raw`^(${KEY})\s*(==|=|!=|>|<)\s*(${VALUE})$`);
const PRESENT = new RegExp(String.raw`^(!?)\s*(${KEY})$`);
const ONE_VALUE = new RegExp(`^${VALUE}$`);

type Requirement = (labels: Labels) => boolean;

/** A label's value; names such as `constructor` are not labels just because objects have such members. */
function labelOf(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

function inSet(key: string, list: string, wanted: boolean): Requirement | undefined {
  const values = list.split(',').map((value) => value.trim());
  if (!values.every((value) => ONE_VALUE.test(value))) return undefined;
  return (labels) => {
    const value = labelOf(labels, key);
    return (value !== undefined && values.includes(value)) === wanted;
  };
}

function compared(key: string, operator: string, value: string): Requirement | undefined {
  switch (operator) {
    case '!=':
      return (labels) => labelOf(labels, key) !== value;
    case '>':
    case '<': {
      if (!/^-?\d+$/.test(value)) return undefined;
      const sign = operator === '>' ? 1 : -1;
      return (labels) => {
        const label = labelOf(labels, key) ?? '';
        return /^-?\d+$/.test(label) && sign * (Number(label) - Number(value)) > 0;
      };
    }
    default:
      return (labels) => labelOf(labels, key) === value;
  }
}

function parseRequirement(text: string): Requirement | undefined {
  const set = IN_SET.exec(text);
  if (set !== null) return inSet(set[1]!, set[3]!, set[2] === 'in');
  const comparison = COMPARED.exec(text);
  if (comparison !== null) return compared(comparison[1]!, comparison[2]!, comparison[3]!);
  const present = PRESENT.exec(text);
  if (present === null) return undefined;
  const [, absent, key] = present;
  return (labels) => (labelOf(labels, key!) === undefined) === (absent === '!');
}

/** Reads the selectors of the Kubernetes API: `app=web, tier in (a, b), !canary`. @throws Refused for other text. */
export function parseLabelSelector(text: string): LabelSelector {
  // Commas inside parentheses belong to their set.
  const parts = text.trim() === '' ? [] : text.split(/,(?![^(]*\))/).map((part) => part.trim());
  const requirements = parts.map((part) => {
    const requirement = parseRequirement(part);
    if (requirement !== undefined) return requirement;
    throw new Refused(
      `label selector "${text}": "${part}" is no requirement such as key=value, key!=value, key in (a, b), key notin (a, b), key or !key`,
    );
  });
  return (labels = {}) => requirements.every((holds) => holds(labels));
}
