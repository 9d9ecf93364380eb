import { quoted } from './quoted.ts';
import type { Condition } from './route.ts';

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
const longestValue = 4096;

/** PCRE gives up early on patterns that explode; a verb of the user's own can no longer stand at the beginning. */
const matchLimit = '(*LIMIT_MATCH=5000)';

/** What is wrong with a condition, or undefined. */
export function conditionProblem(condition: Condition): string | undefined {
  if (condition.kind === 'method') {
    return token.test(condition.value) ? undefined : `${quoted(condition.value)} is no method`;
  }
  const { kind, name, value } = condition;
  if (kind === 'header' && !token.test(name)) return `${quoted(name)} is no header name`;
  if (kind === 'query' && (name === '' || name.length > 256))
    return `${quoted(name)} is no query parameter's name`;
  if (!name.isWellFormed() || !value.isWellFormed())
    return `the ${kind} condition is not well-formed Unicode`;
  if (value.length > longestValue) {
    return `the value of ${kind} ${quoted(name)} is longer than ${longestValue} characters`;
  }
  return undefined;
}

/**
 * The text of conditions in a list, equal for equal conditions whatever their order:
 * `m=GET&h:name=value&q:name~regex`.
 */
export function conditionText(conditions: readonly Condition[]): string {
  return conditions.map(oneConditionText).toSorted().join('&');
}

function oneConditionText(condition: Condition): string {
  if (condition.kind === 'method') return `m=${encodeText(condition.value)}`;
  const { kind, match, value } = condition;
  const name = kind === 'header' ? condition.name.toLowerCase() : condition.name;
  const subject = `${kind.charAt(0)}:${encodeText(name)}`;
  if (match === 'exact') return `${subject}=${encodeText(value)}`;
  return `${subject}~${encodeText(`${matchLimit}^(?:${value})$`)}`;
}

/** The condition that a regex path is: anchored at its start only. */
export function pathRegexText(pattern: string): string {
  return `p~${encodeText(`${matchLimit}^(?:${pattern})`)}`;
}

/** Percent-encodes everything that means something in a list, in a map file or on the runtime socket. */
export function encodeText(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*~]/g, percentEncode);
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
