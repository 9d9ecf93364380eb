import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { yamlMessage } from './yaml-words.ts';

function messagesOf(text: string): string {
  return parseAllDocuments(text, { prettyErrors: false })
    .flatMap(({ errors }) => errors.map(yamlMessage))
    .join('\n');
}

describe('yamlMessage', () => {
  test.each([
    ['kind Ingress\nmetadata:\n  name: a\n', 'is there no colon behind a key'],
    ['a: b: c\n', 'is a text with a colon in it not quoted?'],
  ])('says what to look for in %j', (text, hint) => {
    expect(messagesOf(text)).toContain(hint);
  });

  test('leaves words that say enough as they are', () => {
    expect(messagesOf('a: 1\na: 2\n')).toBe('Map keys must be unique');
  });
});
