import type { z } from 'zod';
import { didYouMean } from '../contract/nearest.ts';
import { readField } from '../contract/field-path.ts';
import { knownKeys } from './known-keys.ts';

/** One thing that is wrong with a document, by its path. */
export interface PathProblem {
  readonly path: readonly (string | number)[];
  /** Whether the key is wrong, or what stands at it. */
  readonly of: 'key' | 'value';
  readonly message: string;
}

type Issue = z.core.$ZodIssue;

const LONGEST_TEXT = 60;

/** A value as a message quotes it. */
export function describe(value: unknown): string {
  if (value === null) return 'nothing (null)';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function mismatch(expected: string, value: unknown): string {
  return value === undefined
    ? `missing, expected ${expected}`
    : `expected ${expected}, got ${describe(value)}`;
}

function choice(values: readonly unknown[], value: unknown): string {
  const names = values.map(String);
  const list = values.map((name) => JSON.stringify(name)).join(', ');
  const hint = typeof value === 'string' ? didYouMean(value, names) : '';
  return mismatch(`${values.length > 1 ? 'one of ' : ''}${list}`, value) + hint;
}

function bound(issue: Extract<Issue, { code: 'too_small' | 'too_big' }>): string {
  const small = issue.code === 'too_small';
  const limit = small ? issue.minimum : issue.maximum;
  if (issue.origin === 'number' || issue.origin === 'int')
    return `must be at ${small ? 'least' : 'most'} ${limit}`;
  if (small && Number(limit) === 1) return 'must not be empty';
  return `must have at ${small ? 'least' : 'most'} ${limit} ${issue.origin === 'string' ? 'characters' : 'items'}`;
}

/** How the words begin that zod finds when a schema has none of its own. */
const ZODS_WORDS = /^(?:Invalid|Too (?:small|big)|Unrecognized)/;

function messageOf(issue: Issue, value: unknown): string {
  if (issue.code === 'invalid_key') return issue.issues.map((inner) => inner.message).join('; ');
  if (!ZODS_WORDS.test(issue.message)) return issue.message;
  if (issue.code === 'invalid_type') return mismatch(EXPECTED[issue.expected] ?? issue.expected, value);
  if (issue.code === 'invalid_value') return choice(issue.values, value);
  if (issue.code === 'invalid_union' && 'options' in issue) return choice(issue.options, value);
  return issue.code === 'too_small' || issue.code === 'too_big' ? bound(issue) : issue.message;
}

function unknownKeys(
  schema: z.ZodType,
  issue: Extract<Issue, { code: 'unrecognized_keys' }>,
  spec: unknown,
): PathProblem[] {
  const path = issue.path as (string | number)[];
  const known = knownKeys(schema, path, spec);
  return issue.keys.map((key) => {
    const hint = didYouMean(key, known) || `, known keys are ${known.join(', ')}`;
    return {
      path: [...path, key],
      of: 'key',
      message: `unknown key "${key}"${known.length === 0 ? '' : hint}`,
    };
  });
}

/** The problems that `error` of `schema` has with `spec`, in our words. */
export function schemaProblems(schema: z.ZodType, error: z.ZodError, spec: unknown): readonly PathProblem[] {
  return error.issues.flatMap((issue): PathProblem[] => {
    if (issue.code === 'unrecognized_keys') return unknownKeys(schema, issue, spec);
    const path = issue.path as (string | number)[];
    const value = readField(spec, path.map(String));
    return [{ path, of: issue.code === 'invalid_key' ? 'key' : 'value', message: messageOf(issue, value) }];
  });
}
