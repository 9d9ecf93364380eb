import { describe, expect, it } from 'vitest';
import { Held, type ConfigVersion } from '../contract/index.ts';
import { controllerRig, rigSpec, type Rig } from '../testing/controller-rig.ts';

const QUIET = 600;

const version = (generation: number): ConfigVersion => ({
  namespace: 'ns',
  name: 'haptic',
  uid: 'u',
  generation,
});

/** What observers were told of the configuration: the generation, with the reason of a rejection. */
async function start(prepare: (rig: Rig) => void): Promise<{ readonly rig: Rig; readonly told: string[] }> {
  const told: string[] = [];
  const rig = await controllerRig((made) => {
    made.source.version = version(1);
    made.source.spec = rigSpec('x');
    const { configAccepted, configRejected } = made.controller.host.hooks;
    configAccepted.tap('test', (_config, about) => void told.push(`${about?.generation} accepted`));
    configRejected.tap(
      'test',
      (_error, { reason, version: about }) => void told.push(`${about?.generation} ${reason}`),
    );
    prepare(made);
  });
  return { rig, told };
}

describe('a configuration that is refused', () => {
  it.each<[string, (rig: Rig) => void, string]>([
    ['what does not merge', (rig) => (rig.source.spec = { unknown: 1 }), '1 ConfigInvalid'],
    ['templates that do not compile', (rig) => (rig.source.spec = rigSpec('bad')), '1 ConfigInvalid'],
    [
      'HAProxy',
      (rig) => {
        rig.judge = async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' });
      },
      '1 HAProxyValidationFailed',
    ],
    [
      'another judge',
      (rig) => {
        rig.external = async (_candidate, findings) => findings.add({ severity: 'error', message: 'no' });
      },
      '1 LoadGateFailed',
    ],
    [
      'a missing library',
      (rig) => {
        rig.source.load = () => Promise.reject(new Held('LibraryMissing', [{ where: '', message: 'gone' }]));
      },
      '1 LibraryMissing',
    ],
  ])('is so for a reason: %s', async (_what, prepare, expected) => {
    const { rig, told } = await start(prepare);
    await using _rig = rig;
    expect(told).toEqual([expected]);
  });
});

describe('the version of a configuration', () => {
  it('is told again when another one says the same', async () => {
    const { rig, told } = await start(() => {});
    await using _rig = rig;
    for (const generation of [1, 2]) {
      rig.source.version = version(generation);
      rig.source.changed();
      await rig.clock.advance(QUIET);
      await rig.settle();
    }
    expect(told).toEqual(['1 accepted', '2 accepted']);
  });

  it('is that of the mend, where what was wrong is taken back', async () => {
    const { rig, told } = await start(() => {});
    await using _rig = rig;
    for (const [generation, template] of [
      [2, 'bad'],
      [3, 'x'],
    ] as const) {
      rig.source.version = version(generation);
      rig.source.spec = rigSpec(template);
      rig.source.changed();
      await rig.clock.advance(QUIET);
      await rig.settle();
    }
    expect(told).toEqual(['1 accepted', '2 ConfigInvalid', '3 accepted']);
  });
});
