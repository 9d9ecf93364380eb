import { expect, test } from 'vitest';
import { ScriptedApi, sends, status } from '../../../kube/src/testing/scripted-api.ts';
import { until } from '../../haproxy/until.ts';
import { startSource } from '../source-crd/source.ts';

test('nothing is loaded before it is known which kinds are served', async () => {
  const server = await ScriptedApi.start();
  let isAway = true;
  server.otherwise((response, call) => {
    const isDiscovery = ['/api', '/apis'].includes(call.path);
    if (isDiscovery && isAway) return sends(503, status(503, 'Away'))(response, call);
    if (call.query['watch'] !== undefined) return response.writeHead(200).flushHeaders();
    return sends(200, { metadata: { resourceVersion: '1' }, items: [] })(response, call);
  });
  const source = await startSource({
    kubeconfig: server.kubeConfig().exportConfig(),
    namespace: 'here',
    discoveryInterval: 10,
  });
  let hasAnswered = false;
  const loading = source.load().finally(() => (hasAnswered = true));
  loading.catch(() => undefined);
  // Both kinds of the configuration are followed by now, so nothing else is waited for.
  const watches = (): number => server.calls.filter(({ query }) => query['watch'] !== undefined).length;
  await until(() => watches() >= 2, { deadlineMs: 30_000, what: 'the configuration is watched' });
  const asked = server.calls.length;
  await until(() => server.calls.length > asked + 10, { deadlineMs: 30_000, what: 'discovery goes on' });
  expect(hasAnswered).toBe(false);
  isAway = false;
  await expect(loading).rejects.toThrow('there is no HAProxyTemplateConfig');
});
