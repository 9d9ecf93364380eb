import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { until } from '../haproxy/until.ts';
import { script } from '../judge/start-judge.ts';
import type { FoundPods } from './found-pods.ts';
import { Pod } from './pod.ts';
import { startProgram } from './program.ts';
import type { CrowdMember, CrowdReport } from './programs/crowd.ts';

/** Pods whose agents share a process. */
export interface Crowd {
  readonly pods: readonly { readonly name: string; readonly address: string; readonly pod: Pod }[];
  readonly pid: number;
  report(): Promise<CrowdReport>;
}

/** All of them run when it resolves; a test says when they are found. */
export async function startCrowd(found: FoundPods, names: readonly string[], binary: string): Promise<Crowd> {
  const pods = [];
  const members: CrowdMember[] = [];
  for (const name of names) {
    const [pod, { address, tls }] = [await Pod.create(binary), await found.newPlace()];
    const own = `SITE_PORT=${pod.port} SITE_WORKER=${pod.workerSocket}`;
    const { baseDir, socketDir } = pod;
    const haproxy = await script(`exec env ${own} ${binary} "$@"`);
    members.push({ name, binary: haproxy, baseDir, socketDir, host: address, port: found.port, tls });
    pods.push({ name, address, pod });
  }
  const program = startProgram('crowd', { members: JSON.stringify(members) });
  const { child, pid } = program;
  const lines = createInterface({ input: child.stdout! });
  const report = async (): Promise<CrowdReport> => {
    const line = once(lines, 'line') as Promise<[string]>;
    child.stdin!.write('\n');
    return JSON.parse((await line)[0]) as CrowdReport;
  };
  const serve = async (): Promise<boolean> => {
    const { listening } = await report();
    const serving = program.output().split('"HAProxy serves"').length - 1;
    if (child.exitCode !== null) throw new Error(`it ended: ${program.output().slice(-2_000)}`);
    return listening === names.length && serving === names.length;
  };
  await until(serve, { deadlineMs: 180_000, what: `${names.length} pods serve` });
  return { pods, pid, report };
}
