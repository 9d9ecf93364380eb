import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createController } from '@haptic/core/controller';
import plugin from '@haptic/http-store';
import { controllerRig, rigSpec } from '../../core/src/testing/controller-rig.ts';

/** The blocks of YAML of the page, in order: a template, its test, the host configuration. */
const blocks = Array.from(
  readFileSync(join(import.meta.dirname, '../../docs/http-store.md'), 'utf8').matchAll(
    /^```yaml\n([\s\S]*?)^```/gm,
  ),
  ([, text = '']) => parse(text) as Record<string, unknown>,
);

/** What the shipped library has around the snippet, in short. */
const main = `{% section "base" %}
defaults base
    mode http
{% endsection %}
{% section "frontend http" %}
frontend http from base
    {% include "frontend-before-*" %}
{% endsection %}
{% profiles %}
`;

it('the template of the page passes the test of the page', async () => {
  const [template, tests] = blocks;
  await using rig = await controllerRig(
    (parts) => {
      parts.source.spec = { ...rigSpec(main), ...template, ...tests };
    },
    ({ plugins, ...rest }) => createController({ ...rest, plugins: [...plugins, { plugin, options: {} }] }),
  );
  const { report } = await rig.controller.validate(new AbortController().signal);
  expect(report.tests).toMatchObject([{ name: 'denied', status: 'passed', assertions: [{}] }]);
});

it('the options of the page are options', () => {
  const { plugins } = blocks[2] as { readonly plugins: readonly { readonly options: object }[] };
  expect(plugin.options.safeParse(plugins[0]!.options)).toMatchObject({ success: true });
});
