import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { optionsSchema } from '../../plugins/deploy-agent/src/options.ts';

test('the options that docs/deploy.md shows are the ones that there are, with their defaults', async () => {
  const text = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const shown = /```yaml\n(.*?)```/s.exec(text)?.[1] ?? '';
  const { options } = parse(shown) as { readonly options: Record<string, unknown> };
  const { waves, ...rest } = options;
  const parsed = optionsSchema.parse(options);
  expect(parsed.waves).toEqual(waves);
  expect(optionsSchema.parse(rest)).toEqual(parsed);
});
