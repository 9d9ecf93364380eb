import { Deployer } from './deployer.ts';
import { Pod } from './pod.ts';

/** A pod whose HAProxy and agent run, and a controller of it. */
export async function runningPod(
  binary: string,
  options: Record<string, string> = {},
): Promise<{ readonly pod: Pod; readonly deployer: Deployer }> {
  const pod = await Pod.create(binary);
  await pod.startHaproxy();
  await pod.startAgent(options);
  return { pod, deployer: new Deployer(pod) };
}
