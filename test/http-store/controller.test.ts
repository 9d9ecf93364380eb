import { expect, it } from 'vitest';
import { MAIN_CONFIG, type Rendered } from '@haptic/core/contract';
import { createController } from '@haptic/core/controller';
import { controllerRig, rigSpec } from '../../core/src/testing/controller-rig.ts';
import { httpStore } from '../../plugins/http-store/src/plugin.ts';
import { until } from '../haproxy/until.ts';
import { httpServer, plain, tagged } from './http-server.ts';

function comments(rendered: Rendered | undefined): string | undefined {
  if (rendered === undefined) return undefined;
  return new TextDecoder()
    .decode(rendered.files.read(MAIN_CONFIG))
    .match(/(?<=^# )\S+$/gm)
    ?.join();
}

it('lists of two servers go from there to the pods, and a bad one does not', async () => {
  const [allow, deny] = [await httpServer(tagged('allow-1')), await httpServer(plain('', {}, 503))];
  const template = `{% section "lists" %}
# {{ http.fetch("${allow.origin}/list", {interval: "1m", critical: true}) | word }}
# {{ http.fetch("${deny.origin}/list", {interval: "1m", default: "none"}) | word }}
{% endsection %}
{% profiles %}
`;
  const options = { allowHosts: ['127.0.0.1'], allowAddresses: ['127.0.0.0/8'] };
  await using rig = await controllerRig(
    (parts) => {
      parts.source.spec = rigSpec(template);
      parts.judge = async ({ rendered }, findings) => {
        if (comments(rendered)?.includes('bad') === true) {
          findings.add({ severity: 'error', message: 'it is bad' });
        }
      };
    },
    ({ plugins, ...rest }) =>
      createController({
        ...rest,
        plugins: [...plugins, { plugin: httpStore({ random: () => 0.5 }), options }],
      }),
  );
  const deployed = (): string | undefined => comments(rig.fleet.deployments.at(-1)?.rendered);
  const eventually = (text: string): Promise<unknown> =>
    until(
      async () => {
        await rig.clock.advance(1_000);
        return deployed() === text;
      },
      { deadlineMs: 30_000, what: `${text} deployed, not ${deployed()}` },
    );

  await eventually('allow-1,none');
  expect(rig.fleet.deployments.map(({ rendered }) => comments(rendered))).not.toContain('none');
  deny.answer = tagged('deny-1');
  await eventually('allow-1,deny-1');
  allow.answer = tagged('bad');
  await until(async () => {
    await rig.clock.advance(1_000);
    return rig.log.records.some(({ message }) => message.startsWith('a new content was refused'));
  });
  expect(deployed()).toBe('allow-1,deny-1');
  deny.answer = tagged('deny-2');
  await eventually('allow-1,deny-2');
  allow.answer = tagged('allow-2');
  await eventually('allow-2,deny-2');
  await allow.close();
  await rig.clock.advance(600_000);
  expect(deployed()).toBe('allow-2,deny-2');
  const health = await rig.controller.host.health();
  expect(health.find(({ plugin }) => plugin === 'http-store')?.problem).toContain('ECONNREFUSED');
});
