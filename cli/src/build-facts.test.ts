import { expect, test } from 'vitest';
import { buildFacts } from './build-facts.ts';

test('the build is the same each time it is asked for', async () => {
  const first = await buildFacts();
  expect(first).toEqual({ version: '0.1.0', sourceHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  expect(await buildFacts()).toEqual(first);
});
