import { describe, expect, it } from 'vitest';
import { failureOf, runTests } from '../testing/validation-test-rig.ts';

const template = `{% section "global" %}
global
{% endsection %}
{% section "users", [], {secret: true} %}
userlist users
  user admin password {{ settings.hash | word }}
{% endsection %}
{% section "end" %}
# end
{% endsection %}
{% entry "names", "token", "secret-value" %}
{% for s in resources.services.list() %}
{% status s, [{type: "Ready", status: "True"}] %}
{% do warn(s, "Odd", "it is odd") %}
{% endfor %}
`;

const spec = {
  haproxyConfig: { template },
  maps: { names: { match: 'str', secret: true } },
  settings: { hash: 'aGFzaA' },
  k8sResources: {
    maps: {
      template:
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one, namespace: shop }\ndata: { size: "{{ settings.hash }}", list: [1, 2] }\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: two, namespace: shop }\ndata: {}\n',
    },
    nothing: { template: '# nothing\n' },
    secret: {
      template:
        'apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: shop }\nstringData: { password: hunter2 }\n',
    },
  },
};

const check = (assertion: object) => failureOf(assertion, {}, { spec });

describe('Kubernetes resources, statuses and events', () => {
  it.each([
    [{ target: 'k8s:maps', path: '$[0].metadata.name', expected: 'one' }],
    [{ target: 'k8s:maps', path: '$[*].metadata.name', expected: ['one', 'two'] }],
    [{ target: 'k8s:maps', path: '$[?@.metadata.name == "one"].data.list[1]', expected: [2] }],
    [{ target: 'k8s:maps', path: '$[0].data' }],
    [{ target: 'k8s:nothing', path: '$', expected: [] }],
    [{ target: 'k8s:secret', path: '$.stringData.password', expected: 'hunter2' }],
    [{ target: 'status:shop/web', path: '$.conditions[?@.type == "Ready"].status', expected: ['True'] }],
    [{ target: 'status:shop/web', path: '$.object.kind', expected: 'Service' }],
    [{ target: 'events', path: '$[*].object.name', expected: ['api', 'web'] }],
    [{ target: 'plan', path: '$.maps["maps/names.map"].match', expected: 'str' }],
  ])('hold: %j', async (assertion) => {
    expect(await check({ type: 'jsonpath', ...assertion })).toBeUndefined();
  });

  it.each([
    [{ target: 'k8s:maps', path: '$[2].metadata' }, 'nothing is at $[2].metadata of k8s:maps'],
    [{ target: 'k8s:maps', path: '$[*].spec' }, 'nothing is at $[*].spec of k8s:maps'],
    [
      { target: 'k8s:maps', path: '$[0].data.list', expected: [2, 1] },
      '$[0].data.list of k8s:maps is [1,2], expected [2,1]',
    ],
    [
      { target: 'k8s:map', path: '$' },
      'no template "map" in k8sResources was rendered, did you mean "maps"?',
    ],
    [
      { target: 'status:shop/wbe', path: '$' },
      'no status of shop/wbe was rendered, did you mean "shop/web"?',
    ],
    [
      { target: 'k8s:secret', path: '$.stringData.password', expected: 'x' },
      '$.stringData.password of k8s:secret is another value (it is secret), expected "x"',
    ],
  ])('fail: %j', async (assertion, failure) => {
    expect(await check({ type: 'jsonpath', ...assertion })).toBe(failure);
  });

  it('are texts as well', async () => {
    const texts = [
      ['k8s:maps', '^  name: one$'],
      ['k8s:maps', '^---$'],
      ['status:shop/web', '^  - type: Ready$'],
      ['events', '^Service shop/web Odd: it is odd$'],
    ];
    for (const [target, pattern] of texts)
      expect(await check({ type: 'contains', target, pattern })).toBeUndefined();
  });
});

describe('no secret is shown', () => {
  it.each([
    [{ type: 'contains', target: 'haproxy.cfg', pattern: 'user admin password x' }],
    [{ type: 'not_contains', target: 'haproxy.cfg', pattern: 'password' }],
    [{ type: 'not_contains', target: 'map:names', pattern: 'token' }],
    [{ type: 'equals', target: 'map:names', expected: '' }],
    [{ type: 'match_order', target: 'map:names', patterns: ['value', 'token'] }],
    [{ type: 'not_contains', target: 'plan', pattern: 'secret-value' }],
    [{ type: 'not_contains', target: 'k8s:secret', pattern: 'hunter2' }],
  ])('by %j', async (assertion) => {
    const failure = (await check(assertion))!.replace(/\/.*\//, '');
    expect(failure).not.toMatch(/aGFzaA|secret-value|hunter2|admin/);
    expect(failure).toMatch(/secret|^no match/);
  });

  it('and what is none is', async () => {
    expect(await check({ type: 'not_contains', target: 'haproxy.cfg', pattern: '^# end' })).toMatch(
      /\n {2}\d+ \| # end$/,
    );
  });
});

describe('a test has what was before and what is fetched', () => {
  const currentServers = { web: [{ name: 'a', address: '10.0.0.1', port: 80 }] };
  const text = `{% section "global" %}
global
{% for s in current?.servers["web"] ?? [] %}
  # {{ s.name }} {{ s.address }}:{{ s.port }} {{ s.state }}
{% endfor %}
  # {{ current?.files["maps/x.map"] ?? "none" }}
{% endsection %}
`;

  it('in current', async () => {
    const assertions = [
      { type: 'contains', target: 'haproxy.cfg', pattern: '# a 10.0.0.1:80 ready' },
      { type: 'contains', target: 'haproxy.cfg', pattern: '# abc' },
    ];
    const tests = {
      before: { currentServers, currentFiles: { 'maps/x.map': 'abc' }, assertions },
      nothing: { assertions: [{ type: 'contains', target: 'haproxy.cfg', pattern: '# none' }] },
    };
    const report = await runTests({ tests, spec: { haproxyConfig: { template: text } } });
    expect(report).toMatchObject({ passed: 2, failed: 0 });
  });
});
