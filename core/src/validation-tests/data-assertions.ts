import { parseJsonPath, readJsonPath } from '../config/json-path.ts';
import type { Assertion } from '../contract/config.ts';
import type { Json } from '../contract/object.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { fails, HOLDS, type Judgement, type RenderOutcome } from './outcome.ts';
import { targetData } from './target-text.ts';

const WIDEST = 200;

function shown(value: Json): string {
  const text = canonicalJson(value);
  return text.length > WIDEST ? `${text.slice(0, WIDEST)}…` : text;
}

/** A path that names one place is compared with what is there, any other with the list of all that it names. */
export function judgeData(
  { target, path: text, expected }: Extract<Assertion, { readonly type: 'jsonpath' }>,
  outcome: RenderOutcome,
): Judgement {
  const found = targetData(outcome, target);
  if (found.kind === 'none') return fails(found.reason);
  const path = parseJsonPath(text);
  const values = readJsonPath(path, found.data);
  const [first] = values;
  if (first === undefined && (path.single || expected === undefined))
    return fails(`nothing is at ${text} of ${target}`);
  if (expected === undefined) return HOLDS;
  const actual = path.single ? first! : values;
  if (canonicalJson(actual) === canonicalJson(expected)) return HOLDS;
  const is = found.secret ? 'another value (it is secret)' : shown(actual);
  return fails(`${text} of ${target} is ${is}, expected ${shown(expected)}`);
}
