import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import { Elector, KubeApi, loadKubeConfig } from '@haptic/kube';
import { timing } from './timing.ts';

/**
 * `candidate.ts KUBECONFIG NAMESPACE IDENTITY FLOOR`: stands for election until its input ends. It says on its output when it is
 * ready, and again and again while it takes itself for the leader: `epoch nanoseconds`. The time is taken first, so a line never
 * claims a moment that was not looked at. FLOOR is where to ask for the highest epoch that was ever claimed, as agents are asked.
 */
async function main([
  file = '',
  namespace = '',
  identity = '',
  floor = '',
]: readonly string[]): Promise<void> {
  const api = new KubeApi(loadKubeConfig({ file }));
  const elector = new Elector({
    api,
    namespace,
    name: 'leader',
    identity,
    lead: () => undefined,
    floor: async (signal) => Number(await (await fetch(floor, { signal })).text()),
    clock: systemClock,
    log: memoryLog(),
    timing,
  });
  process.stdout.write('ready\n');
  const stop = new AbortController();
  process.stdin.on('end', () => stop.abort()).resume();
  const claims = setInterval(() => {
    const at = process.hrtime.bigint();
    const { leader, epoch } = elector.current();
    if (leader) process.stdout.write(`${epoch} ${at}\n`);
  }, 5);
  await elector.run(stop.signal);
  clearInterval(claims);
  await api.close();
}

await main(process.argv.slice(2));
