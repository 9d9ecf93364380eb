import { Refused } from './errors.ts';
import type { Labels } from './observability.ts';

/** Whether an object with these labels is selected. */
export type LabelSelector = (labels: Labels | undefined) => boolean;

/** One of the claims of a label selector, by the words of Kubernetes; `Gt` and `Lt` are known to lists and watches only. */
export interface LabelRequirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist' | 'Gt' | 'Lt';
  /** One for `Gt` and `Lt`, none for `Exists` and `DoesNotExist`. */
  readonly values: readonly string[];
}

const KEY = String.raw`(?:[A-Za-z0-9.-]+\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`;
const VALUE = String.raw`(?:[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)?`;
const IN_SET = new RegExp(String.raw`^(${KEY})\s+(in|notin)\s*\((.*)\)$`);
const COMPARED = new RegExp(String.raw`^(${KEY})\s*(==|=|!=|>|<)\s*(${VALUE})$`);
const PRESENT = new RegExp(String.raw`^(!?)\s*(${KEY})$`);
const ONE_VALUE = new RegExp(`^${VALUE}$`);
const NUMBER = /^-?\d+$/;
const OPERATORS = {
  in: 'In',
  notin: 'NotIn',
  '=': 'In',
  '==': 'In',
  '!=': 'NotIn',
  '>': 'Gt',
  '<': 'Lt',
} as const;

function inSet(key: string, word: string, list: string): LabelRequirement | undefined {
  const values = list.split(',').map((value) => value.trim());
  if (!values.every((value) => ONE_VALUE.test(value))) return undefined;
  return { key, operator: OPERATORS[word as 'in' | 'notin'], values };
}

function compared(key: string, word: string, value: string): LabelRequirement | undefined {
  const operator = OPERATORS[word as keyof typeof OPERATORS];
  if ((operator === 'Gt' || operator === 'Lt') && !NUMBER.test(value)) return undefined;
  return { key, operator, values: [value] };
}

function parseRequirement(text: string): LabelRequirement | undefined {
  const set = IN_SET.exec(text);
  if (set !== null) return inSet(set[1]!, set[2]!, set[3]!);
  const comparison = COMPARED.exec(text);
  if (comparison !== null) return compared(comparison[1]!, comparison[2]!, comparison[3]!);
  const present = PRESENT.exec(text);
  if (present === null) return undefined;
  return { key: present[2]!, operator: present[1] === '!' ? 'DoesNotExist' : 'Exists', values: [] };
}

function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  // Names such as `constructor` are not labels just because objects have such members.
  const label = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    default: {
      const sign = operator === 'Gt' ? 1 : -1;
      return label !== undefined && NUMBER.test(label) && sign * (Number(label) - Number(values[0])) > 0;
    }
  }
}

/** What a selector of the Kubernetes API claims, all of it: `app=web, tier in (a, b), !canary`. @throws Refused for other text. */
export function parseLabelRequirements(text: string): readonly LabelRequirement[] {
  // Commas inside parentheses belong to their set.
  const parts = text.trim() === '' ? [] : text.split(/,(?![^(]*\))/).map((part) => part.trim());
  return parts.map((part) => {
    const requirement = parseRequirement(part);
    if (requirement !== undefined) return requirement;
    throw new Refused(
      `label selector "${text}": "${part}" is no requirement such as key=value, key!=value, key in (a, b), key notin (a, b), key or !key`,
    );
  });
}

/** Reads the selectors of the Kubernetes API: `app=web, tier in (a, b), !canary`. @throws Refused for other text. */
export function parseLabelSelector(text: string): LabelSelector {
  const requirements = parseLabelRequirements(text);
  return (labels = {}) => requirements.every((requirement) => holds(requirement, labels));
}
