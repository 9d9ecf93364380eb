import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FLEET, type Outcome } from '@haptic/core/contract';
import { createHooks, Host } from '@haptic/core/host';
import deployAgent from '@haptic/deploy-agent';
import { siteFiles } from '../plan.ts';
import { renderedOf } from '../rendered.ts';
import { jsonLog } from './json-log.ts';

/** As much of `haptic up` as a local pod needs: deploys one site whenever the pod does not run it. */
const { values } = parseArgs({
  options: {
    binary: { type: 'string', default: '' },
    port: { type: 'string', default: '0' },
    dir: { type: 'string' },
  },
});

const log = jsonLog({ program: 'up' });
const haptic = join(import.meta.dirname, 'haptic.ts');
const host = await Host.start({
  hooks: createHooks(),
  observers: [],
  deadlines: { deploy: Number.POSITIVE_INFINITY },
  plugins: [
    {
      plugin: deployAgent,
      options: {
        mode: 'local',
        haproxy: values.binary,
        spawn: { command: process.execPath, args: ['--conditions=source', haptic] },
        ...(values.dir !== undefined && { dir: values.dir }),
      },
    },
  ],
  log,
});
const fleet = host.use(FLEET);
const { workerSocket } = fleet.facts().paths;
const rendered = renderedOf(siteFiles({ port: Number(values.port), workerSocket, text: 'up' }));

async function deploy(): Promise<void> {
  const [pod] = fleet.pods();
  if (pod?.haproxyVersion === undefined || pod.baseline?.id === rendered.plan.id) return;
  const outcomes: Outcome[] = [];
  const collector = { outcomes, add: (outcome: Outcome) => void outcomes.push(outcome) };
  const plans = [
    {
      pod: pod.name,
      mode: 'reload' as const,
      reasons: ['start'],
      ops: [],
      inPlaceOps: [],
      files: [],
      binds: [],
    },
  ];
  const signal = AbortSignal.timeout(60_000);
  await host.hooks.deploy.promise({ rendered, plans, validated: true }, collector, {
    signal,
    caller: 'reconcile',
  });
  log.info({ outcomes }, 'deployed');
}

let running = Promise.resolve();
const deployNext = (): void => {
  running = running.then(deploy).catch((error: unknown) => log.error({ err: error }, 'deploy failed'));
};
fleet.onChange(deployNext);
deployNext();
process.once('SIGTERM', () => {
  host.close().then(
    () => process.exit(0),
    (error: unknown) => {
      log.error({ err: error }, 'stop failed');
      process.exit(1);
    },
  );
});
