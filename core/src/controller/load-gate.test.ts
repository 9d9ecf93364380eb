import { describe, expect, it } from 'vitest';
import { MAIN_CONFIG } from '../contract/index.ts';
import { controllerRig, ingress, rigSpec, type JudgeRun, type Rig } from '../testing/controller-rig.ts';
import { createController } from './create-controller.ts';

const template = `{% section "base" %}
defaults base
    mode http
{% endsection %}
{% profiles %}
{% for ingress in resources.ingresses.list() %}
{% backend {name: ingress.metadata.name, from: "base", objects: [ingress]} %}
    http-request set-header X-Text {{ ingress.spec.text.value }}
{% endbackend %}
{% endfor %}
`;
const good = { text: { value: 'x' } };

async function start(prepare: Parameters<typeof controllerRig>[0] = () => {}): Promise<Rig> {
  return await controllerRig((rig) => {
    rig.source.spec = rigSpec(template);
    prepare(rig);
  }, createController);
}

/** As HAProxy would: it names the line of every backend whose name begins with "bad". */
const placing: JudgeRun = async ({ rendered }, findings) => {
  const lines = new TextDecoder().decode(rendered.files.read(MAIN_CONFIG)).split('\n');
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('backend bad'))
      findings.add({ severity: 'error', message: 'unknown keyword', path: MAIN_CONFIG, line: index + 1 });
  }
};

const bad = (count: number) => Array.from({ length: count }, (_, index) => ingress(`bad-${index}`, good));
const served = (rig: Rig): string =>
  Object.keys(rig.fleet.deployments.at(-1)?.rendered.plan.backends ?? {}).join();

describe('a start', () => {
  it.each(['a judge', 'a template'])('is not blocked by an object that %s refuses', async (who) => {
    await using rig = await start((rig) => {
      rig.judge = placing;
      const name = who === 'a judge' ? 'bad' : 'broken';
      rig.source.objects['ingresses'] = [ingress('good', good), ingress(name, who === 'a judge' ? good : {})];
    });
    expect(rig.controller.status()).toMatchObject({
      phase: 'serving',
      quarantine: [{ object: { name: who === 'a judge' ? 'bad' : 'broken' }, instead: 'unavailable' }],
    });
    expect(served(rig)).toBe('good');
    rig.source.put('ingresses', ingress('other', good));
    await rig.settle();
    expect(served(rig)).toBe('good,other');
  });

  it('is blocked where the configuration refuses many', async () => {
    await using rig = await start((rig) => {
      rig.judge = placing;
      rig.source.objects['ingresses'] = bad(6);
    });
    expect(rig.controller.status()).toMatchObject({ phase: 'waiting', quarantine: [] });
    expect(rig.controller.status().problem?.message).toMatch(
      /unknown keyword[^]*the configuration is to blame, not objects/,
    );
    expect(rig.fleet.deployments).toEqual([]);
  });
});

describe('a change of the configuration', () => {
  it('that refuses an object which was fine is refused, and what serves goes on', async () => {
    await using rig = await start(({ source }) => {
      source.objects['ingresses'] = [ingress('bad', good)];
    });
    const second = `${template}# second\n`;
    rig.judge = async (candidate, ...rest) => {
      if (candidate.config.haproxyConfig.template === second) await placing(candidate, ...rest);
    };
    rig.source.spec = rigSpec(second);
    rig.source.changed();
    await rig.clock.advance(500);
    await rig.settle();
    expect(rig.told.at(-1)).toMatch(/^rejected haproxy.cfg:\d+: judge: unknown keyword/);
    expect(rig.controller.status()).toMatchObject({
      phase: 'serving',
      quarantine: [],
      config: { haproxyConfig: { template } },
    });
    rig.source.put('ingresses', ingress('other', good));
    await rig.settle();
    expect(served(rig)).toBe('bad,other');
  });
});
