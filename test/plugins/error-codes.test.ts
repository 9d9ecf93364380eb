import { readFile } from 'node:fs/promises';
import { PLUGIN_ERROR_CODES } from '@haptic/core/contract';
import { expect, it } from 'vitest';

it('every error code has its section in the documentation, in the same order', async () => {
  const documentation = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8');
  const sections = Array.from(documentation.matchAll(/^### (.+)$/gm), ([, heading]) => heading);
  expect(sections).toEqual(PLUGIN_ERROR_CODES);
});
