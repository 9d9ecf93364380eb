import { expect, test } from 'vitest';
import { BenchPod } from '../../bench/agent/bench-pod.ts';
import { benchWorld, pemOf } from '../../bench/agent/bench-world.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { pemFor } from './certificates.ts';
import { Deployer } from './deployer.ts';

const COUNT = 3_000;
const MOST_MIB = 80;
/** Makes certificates as large as those of public authorities are with their chain. */
const PADDING = '.'.repeat(3_000);

/** Of the built program: from its sources Node.js takes much more. */
test.runIf(process.env['HAPTIC_SOAK'] === '1')(
  `an agent with ${COUNT} routes and certificates rests below ${MOST_MIB} MiB`,
  async () => {
    const pod = await BenchPod.start('3.4');
    onCleanup(() => pod.stop());
    const deployer = new Deployer(pod);
    const small = await benchWorld(COUNT);
    const names = Object.keys(small.certificates ?? {});
    const pem = await pemFor('soak.test');
    const certificates = (version: string): Readonly<Record<string, string>> =>
      Object.fromEntries(names.map((name) => [name, pemOf(pem, `${name} ${version} ${PADDING}`)]));
    const world = { ...small, certificates: certificates('one') };
    expect((await deployer.deploy(world)).reply.body).toMatchObject({ outcome: 'reload' });
    const first = await pod.memory();
    for (let turn = 0; turn < 20; turn += 1) {
      const hosts = { ...world.hosts, [`turn${turn}.test`]: names[0]! };
      expect((await deployer.deploy({ ...world, hosts })).reply.body).toMatchObject({ outcome: 'runtime' });
    }
    // All certificates at once, as when an authority is replaced.
    const { reply } = await deployer.deploy({ ...world, certificates: certificates('two') });
    expect(reply.body.outcome).toMatch(/runtime|reload/);
    const later = await pod.memory();
    console.info(`agent at rest: ${first.toFixed(1)} MiB after the first apply, ${later.toFixed(1)} later`);
    expect(Math.max(first, later)).toBeLessThanOrEqual(MOST_MIB);
  },
);
