import { z } from 'zod';

function name(pattern: RegExp, longest: number, expected: string) {
  return z
    .string()
    .regex(pattern, `expected ${expected}`)
    .max(longest, `a name may be at most ${longest} characters long`);
}

/** Names that become names of files in a pod: nothing that could leave its folder or need quoting. */
export const fileName = name(
  /^\w[\w.-]*$/,
  200,
  'a name of letters, digits, "_", "-" and "." that begins with a letter, a digit or "_"',
);

/** Names of snippets stand before `:line:column` in messages and match globs of includes, so `:` and `*` are not theirs. */
export const snippetName = name(
  /^\w[\w./-]*$/,
  200,
  'a name of letters, digits, "_", "-", "." and "/" that begins with a letter, a digit or "_"',
);

/** Watches are members of `resources` in templates and first words of `requires`. */
export const watchName = name(
  /^(?!(?:constructor|prototype)$)[A-Za-z_]\w*$/,
  100,
  'a name of letters, digits and "_" that begins with a letter, and not one that JavaScript reserves',
);

export const testName = name(/^[^\p{Cc}]+$/u, 200, 'a name without control characters');

export const annotationName = name(
  /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/,
  316,
  'the name of a Kubernetes annotation, such as example.org/timeout',
);
