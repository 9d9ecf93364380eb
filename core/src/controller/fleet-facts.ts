import type { Fleet, FleetFacts, JudgeBinary } from '../contract/index.ts';

/** Where files stand in the pods of the chart, for renders that no fleet is there for. */
const paths: FleetFacts['paths'] = Object.freeze({
  base: '/etc/haproxy',
  workerSocket: '/run/haptic/worker.sock',
});

/** The facts of the fleet; until a pod has answered, its version is that of the binary that judges. */
export async function fleetFacts(fleet: Fleet | undefined, judge: JudgeBinary): Promise<FleetFacts> {
  const facts = fleet?.facts() ?? { paths };
  return Object.freeze({ ...facts, haproxyVersion: facts.haproxyVersion ?? (await judge.version()) });
}
