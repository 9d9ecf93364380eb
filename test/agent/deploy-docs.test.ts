import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { agentSchema, agentSettings } from '../../plugins/deploy-agent/src/agent-settings.ts';
import { optionsSchema } from '../../plugins/deploy-agent/src/options.ts';
import { podSelectorSchema } from '../../plugins/pod-discovery/src/pod-selector.ts';

test('the options that docs/deploy.md shows are the ones that there are, with their defaults', async () => {
  const text = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const shown = /```yaml\n(.*?)```/s.exec(text)?.[1] ?? '';
  const { options } = parse(shown) as { readonly options: Record<string, unknown> };
  const { waves, ...rest } = options;
  const parsed = optionsSchema.parse(options);
  expect(parsed.waves).toEqual(waves);
  expect(optionsSchema.parse(rest)).toEqual(parsed);
});

test('what docs/deploy.md shows of pods that are found is what there is, with its defaults', async () => {
  const text = await readFile(new URL('../../docs/deploy.md', import.meta.url), 'utf8');
  const [, config, found] = [...text.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, yaml]) => parse(yaml!) as unknown,
  );
  const { spec } = config as { readonly spec: Record<string, unknown> };
  const { options } = found as { readonly options: object };
  expect(podSelectorSchema.parse(spec['podSelector'])).toBeDefined();
  const defaults = optionsSchema.parse({ mode: 'discover' });
  expect(optionsSchema.parse(options)).toEqual(defaults);
  const said = agentSettings(defaults, { owned: { agent: agentSchema.parse(spec['agent']) } });
  expect(said).toEqual(agentSettings(defaults, undefined));
});
