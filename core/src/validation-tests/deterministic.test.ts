import { describe, expect, it } from 'vitest';
import type { TemplateHelper } from '../contract/services.ts';
import { failureOf, service } from '../testing/validation-test-rig.ts';

function helper(call: TemplateHelper['call']): TemplateHelper {
  return { name: 'odd', signature: 'odd(value?) → text', doc: '', minArgs: 0, maxArgs: 1, call };
}

const labels = { x: '1', b: '2', a: '3' };
const web = { ...service('web'), metadata: { namespace: 'shop', name: 'web', labels } };

/** Why a template with such a helper is not deterministic. */
async function difference(
  call: TemplateHelper['call'],
  expression: string,
  secret = false,
): Promise<unknown> {
  const template = `{% section "global" %}
global
{% endsection %}
{% section "odd", [], {secret: ${String(secret)}} %}
{% for s in resources.services.list() %}
  # {{ ${expression} | word }}
{% endfor %}
{% endsection %}
`;
  const failure = await failureOf(
    { type: 'deterministic' },
    { fixtures: { services: [web] } },
    { spec: { haproxyConfig: { template }, maps: {} }, names: (names) => names.helper(helper(call)) },
  );
  return failure?.replaceAll(/^ {2}\d+ \|/gm, '  N |');
}

describe('a render is not deterministic', () => {
  it('when it counts renders', async () => {
    let count = 0;
    expect(await difference(() => `n${++count}`, 'odd()')).toBe(
      'rendered again, haproxy.cfg is another text\nexpected:\n  N |   # n1\nactual:\n  N |   # n2',
    );
  });

  it('when it follows the order of members', async () => {
    const keys = (value: unknown): string => Object.keys(value as object).join('-');
    expect(await difference(keys, 'odd(s.metadata.labels)')).toBe(
      'with its objects in another order, haproxy.cfg is another text\nexpected:\n  N |   # x-b-a\nactual:\n  N |   # a-b-x',
    );
  });

  it('when it fails the second time', async () => {
    let count = 0;
    const once = (): string => {
      if (count++ > 0) throw new Error('only once');
      return 'x';
    };
    expect(await difference(once, 'odd()')).toMatch(/^rendered again, it fails: .*only once/);
  });

  it('and no secret is told', async () => {
    let count = 0;
    const found = await difference(() => `n${++count}`, 'odd()', true);
    expect(found).toBe(
      'rendered again, haproxy.cfg is another text\nexpected:\n  N | (secret)\nactual:\n  N | (secret)',
    );
  });
});
