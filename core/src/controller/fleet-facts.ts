import type { Fleet, FleetFacts, JudgeBinary } from '../contract/index.ts';

/** Where files stand in the pods of the chart, for renders that no fleet is there for. */
const paths: FleetFacts['paths'] = Object.freeze({
  base: '/etc/haproxy',
  workerSocket: '/var/run/haproxy/worker.sock',
});

/** The facts of the fleet; until a pod has answered, its version is that of the binary that judges. */
export async function fleetFacts(fleet: Fleet | undefined, judge: JudgeBinary): Promise<FleetFacts> {
  const facts = fleet?.facts() ?? { paths };
  return Object.freeze({ ...facts, haproxyVersion: facts.haproxyVersion ?? (await judge.version()) });
}

/** Whether what the fleet says now is another view than the one that was rendered. */
export function isOutdated(rendered: FleetFacts, fleet: Fleet): boolean {
  const { paths, haproxyVersion = rendered.haproxyVersion } = fleet.facts();
  const same = paths.base === rendered.paths.base && paths.workerSocket === rendered.paths.workerSocket;
  return !same || haproxyVersion !== rendered.haproxyVersion;
}
