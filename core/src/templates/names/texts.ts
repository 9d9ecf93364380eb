import { stringify } from 'yaml';
import type { TemplateHelper } from '../../contract/index.ts';
import { plainSize } from '../runtime/plain-size.ts';
import { asNumber, asText } from './arguments.ts';

const number = /^-?\d+(?:\.\d+)?$/;

function toNumber(value: unknown): number {
  if (typeof value === 'number') return value;
  const text = asText(value);
  if (!number.test(text)) throw new Error(`${JSON.stringify(text.slice(0, 60))} is no number`);
  return Number(text);
}

function toText(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} cannot be printed`);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return asText(value);
}

/** JSON of plain data, keys in the order of the object. */
function json(value: unknown): string {
  plainSize(value);
  return JSON.stringify(value);
}

/** YAML on one line, so that it fits wherever a value stands. */
function yaml(value: unknown): string {
  plainSize(value);
  return stringify(value, null, {
    collectionStyle: 'flow',
    lineWidth: 0,
    defaultStringType: 'QUOTE_DOUBLE',
    defaultKeyType: 'PLAIN',
    // A list that appears twice is written twice.
    aliasDuplicateObjects: false,
  }).trimEnd();
}

export const textHelpers: readonly TemplateHelper[] = [
  {
    name: 'lower',
    signature: 'lower(text) → text',
    doc: 'In lower case.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => asText(text).toLowerCase(),
  },
  {
    name: 'upper',
    signature: 'upper(text) → text',
    doc: 'In upper case.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => asText(text).toUpperCase(),
  },
  {
    name: 'trim',
    signature: 'trim(text) → text',
    doc: 'Without white space at both ends.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => asText(text).trim(),
  },
  {
    name: 'truncate',
    signature: 'truncate(text, length) → text',
    doc: 'At most that many characters from the beginning.',
    minArgs: 2,
    maxArgs: 2,
    call: (text, length) => asText(text).slice(0, Math.max(0, asNumber(length))),
  },
  {
    name: 'lines',
    signature: 'lines(text) → list',
    doc: 'The lines of a text, without line ends; a last empty one is left out.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => {
      const lines = asText(text).split(/\r?\n/);
      if (lines.at(-1) === '') lines.pop();
      return lines;
    },
  },
  {
    name: 'number',
    signature: 'number(text) → number',
    doc: 'The number that a text spells in decimal; refuses anything else.',
    minArgs: 1,
    maxArgs: 1,
    call: toNumber,
  },
  {
    name: 'text',
    signature: 'text(value) → text',
    doc: 'A number or boolean as text.',
    minArgs: 1,
    maxArgs: 1,
    call: toText,
  },
  {
    name: 'regex',
    signature: 'regex(text) → text',
    doc: 'A regular expression that matches exactly this text.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => asText(text).replaceAll(/[^\w\u0080-\uffff]/g, '\\$&'),
  },
  {
    name: 'json',
    signature: 'json(value) → text',
    doc: 'As JSON on one line.',
    minArgs: 1,
    maxArgs: 1,
    call: json,
  },
  {
    name: 'yaml',
    signature: 'yaml(value) → text',
    doc: 'As YAML on one line.',
    minArgs: 1,
    maxArgs: 1,
    call: yaml,
  },
];
