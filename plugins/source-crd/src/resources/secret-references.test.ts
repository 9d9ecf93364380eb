import { expect, test } from 'vitest';
import { SecretReferences } from './secret-references.ts';

const named = (name: string): { readonly namespace: string; readonly name: string } => ({
  namespace: 'n',
  name,
});

test('Secrets are named as long as somebody names them', () => {
  const references = new SecretReferences();
  expect(references.update('maps', named('a'), ['n/x']), 'news').toBe(true);
  expect([...references.names()]).toEqual(['n/x']);
  expect(references.update('maps', named('b'), ['n/x']), 'no news').toBe(false);
  expect(references.update('maps', named('b'), ['n/x']), 'no news').toBe(false);
  expect(references.of('maps', named('b'))).toEqual(['n/x']);
  expect(references.update('maps', named('a'), []), 'still named by b').toBe(false);
  expect(references.has('n/x')).toBe(true);
  expect(references.update('maps', named('b'), []), 'news').toBe(true);
  expect([...references.names()]).toEqual([]);
});

test('what a complete list of a watch lacks names nothing any more, and other watches keep what they name', () => {
  const references = new SecretReferences();
  references.update('maps', named('a'), ['n/x']);
  references.update('others', named('a'), ['n/y']);
  references.forget('maps');
  expect([...references.names()]).toEqual(['n/y']);
});
