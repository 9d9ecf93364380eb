import { describe, expect, test } from 'vitest';
import type { Provenance, Rendered, Section } from './render-plan.ts';
import { hasNewSecretText, isSecretPlace, SECRET_WORDS, withoutSecretWords } from './secret-parts.ts';

const from = (snippet: string): Provenance => ({ snippet, source: 'lib', line: 1, objects: [] });

function section(snippet: string, secret: boolean, digest = snippet): Section {
  const common = { kind: 'core', name: snippet, digest, length: 1, provenance: from(snippet) } as const;
  return secret ? { ...common, secret } : common;
}

/** Lines 1 to 9 are of an open section, from 10 on of a secret one. */
const rendered = {
  plan: {
    files: [{ path: 'haproxy.cfg' }, { path: 'maps/auth.map', secret: true }],
    sections: [section('open', false), section('users', true)],
  },
  locate: (path: string, line: number) =>
    path === 'haproxy.cfg' ? from(line < 10 ? 'open' : 'users') : undefined,
} as unknown as Rendered;

describe('a place', () => {
  test.each<[string, number | undefined, boolean]>([
    ['haproxy.cfg', 9, false],
    ['haproxy.cfg', 10, true],
    ['haproxy.cfg', undefined, false],
    ['maps/auth.map', 1, true],
    ['maps/auth.map', undefined, true],
    ['elsewhere', 10, false],
  ])('%s:%s is secret: %s', (path, line, expected) => {
    expect(isSecretPlace(rendered, path, line)).toBe(expected);
  });
});

describe('words of a pod', () => {
  test('stay as they are where nothing is secret', () => {
    const words = "[ALERT]  (7) : config : parsing [haproxy.cfg:3] : unknown keyword 'x'\n  x y z\n  ^";
    expect(withoutSecretWords(words, rendered)).toBe(words);
    expect(withoutSecretWords('no verdict', rendered)).toBe('no verdict');
  });

  test('about secret parts become their places, and lines that may quote them go', () => {
    const words = [
      'Success=0',
      "[ALERT]  (7) : config : parsing [haproxy.cfg:3] : unknown keyword 'x'",
      "[ALERT]  (7) : config : parsing [haproxy.cfg:12] : unknown keyword 'hunter2'",
      '  user a password hunter2',
    ].join('\n');
    expect(withoutSecretWords(words, rendered)).toBe(
      [
        "[ALERT]  (7) : config : parsing [haproxy.cfg:3] : unknown keyword 'x'",
        `[haproxy.cfg:12] : ${SECRET_WORDS}`,
      ].join('\n'),
    );
  });
});

test('secret text is new when no section had it before', () => {
  const plan = (...sections: readonly Section[]) => ({ sections });
  expect(hasNewSecretText(plan(section('a', false)), undefined)).toBe(false);
  expect(hasNewSecretText(plan(section('a', true)), undefined)).toBe(true);
  expect(hasNewSecretText(plan(section('a', true)), plan(section('a', true)))).toBe(false);
  expect(hasNewSecretText(plan(section('a', true, 'new')), plan(section('a', true)))).toBe(true);
  expect(hasNewSecretText(plan(section('b', false)), plan(section('a', true)))).toBe(false);
});
