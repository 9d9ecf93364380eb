import { describe, expect, it } from 'vitest';
import { MAIN_CONFIG } from '../contract/index.ts';
import { controllerRig, ingress, rigSpec, type Rig } from '../testing/controller-rig.ts';
import { createController } from './create-controller.ts';

const template = `{% section "base" %}
defaults base
    mode http
{% endsection %}
{% profiles %}
{% for ingress in resources.ingresses.list() %}
{% backend {name: ingress.metadata.name, from: "base", objects: [ingress]} %}
    http-request set-header X-Name {{ ingress.spec.header ?? "none" }}
{% endbackend %}
{% endfor %}
{% include "gateway" %}
`;
const templateSnippets = {
  gateway: {
    template:
      '{% section "gateways" %}\n# {{ resources.gateways.list().length }} gateways\n{% endsection %}\n',
    requires: ['gateways'],
  },
};

async function start(prepare: Parameters<typeof controllerRig>[0] = () => {}): Promise<Rig> {
  return await controllerRig((rig) => {
    rig.source.spec = rigSpec(template, { templateSnippets });
    rig.source.objects['ingresses'] = [ingress('one', { header: 'a b' })];
    prepare(rig);
  }, createController);
}

function config(rig: Rig): string {
  return new TextDecoder().decode(rig.fleet.deployments.at(-1)!.rendered.files.read(MAIN_CONFIG));
}

describe('a controller with the template engine', () => {
  it('deploys what templates say about objects', async () => {
    await using rig = await start();
    expect(rig.controller.status().problem).toBeUndefined();
    expect(config(rig)).toMatch(/^backend one from be-[0-9a-f]{16}$/m);
    expect(config(rig)).toContain('    http-request set-header X-Name a\\ b\n');
    expect(config(rig)).not.toContain('gateways');
  });

  it('takes in what a kind brings that comes to be served', async () => {
    await using rig = await start();
    rig.source.watching[0]!.sink.replace('gateways', []);
    await rig.clock.advance(5_000);
    await rig.settle();
    expect(config(rig)).toContain('# 0 gateways');
  });

  it('says where a finding comes from', async () => {
    await using rig = await start();
    rig.judge = async ({ rendered }, findings) => {
      const lines = new TextDecoder().decode(rendered.files.read(MAIN_CONFIG)).split('\n');
      const line = lines.findIndex((text) => text.startsWith('backend two')) + 1;
      if (line > 0) findings.add({ severity: 'error', message: 'no', path: MAIN_CONFIG, line });
    };
    rig.source.put('ingresses', ingress('two'));
    await rig.settle();
    const refused = rig.log.records.find(({ message }) => message.startsWith('HAProxy refused'));
    expect(refused?.fields).toMatchObject({
      err: {
        message: expect.stringMatching(/^haproxy\.cfg:\d+: judge: no \(from .*Ingress ns\/two\)$/),
      },
    });
    expect(rig.controller.status().quarantine).toMatchObject([{ object: { name: 'two' }, reason: 'no' }]);
  });

  it('refuses a template that is none, and deploys nothing', async () => {
    await using rig = await start(({ source }) => {
      source.spec = rigSpec('{{ nothing }}');
    });
    expect(rig.controller.status()).toMatchObject({ phase: 'waiting' });
    expect(rig.controller.status().problem?.message).toContain('nothing');
    expect(rig.fleet.deployments).toEqual([]);
  });
});

describe('renderOnce', () => {
  const { signal } = new AbortController();

  it('renders and judges without deploying', async () => {
    await using rig = await start();
    const { length } = rig.fleet.deployments;
    const { rendered, verdict, config } = await rig.controller.renderOnce(signal);
    expect(Object.keys(rendered.plan.backends)).toEqual(['one']);
    expect(verdict).toMatchObject({ kind: 'passed' });
    expect(config.haproxyConfig.template).toBe(template);
    expect(rig.fleet.deployments).toHaveLength(length);
    expect(rig.source.watching.at(-1)!.signal.aborted).toBe(true);
  });

  it('gives a refused verdict with the render it is about', async () => {
    await using rig = await start();
    rig.judge = async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' });
    expect(await rig.controller.renderOnce(signal)).toMatchObject({ verdict: { kind: 'refused' } });
  });

  it('asks no judge where none is wanted', async () => {
    await using rig = await start();
    const { verdict } = await rig.controller.renderOnce(signal, { judge: false });
    expect(verdict).toBeUndefined();
  });

  it('refuses a configuration that does not merge', async () => {
    await using rig = await start();
    rig.source.spec = { haproxyConfig: 7 };
    await expect(rig.controller.renderOnce(signal)).rejects.toThrow(/haproxyConfig/);
  });
});
