import { RE2JS, RE2JSSyntaxException } from 're2js';
import { Refused } from '../contract/errors.ts';

/**
 * A pattern of an assertion; `^` and `$` stand for the ends of lines. RE2 syntax, because its time is linear in the text: no
 * pattern of a library can hang a gate.
 * @throws Refused for text that is no pattern.
 */
export function parsePattern(text: string): RE2JS {
  try {
    return RE2JS.compile(text, RE2JS.MULTILINE);
  } catch (error) {
    const reason = error instanceof RE2JSSyntaxException ? error.getDescription() : String(error);
    throw new Refused(`pattern "${text}" is not valid: ${reason}`);
  }
}
