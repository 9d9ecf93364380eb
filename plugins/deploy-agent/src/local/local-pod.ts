import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock, FleetFacts, Log } from '@haptic/core/contract';
import type { LocalOptions } from '../options.ts';
import type { PodEndpoint } from '../endpoints.ts';
import { GUARD_SCRIPT, guardArguments } from './guard.ts';
import { KeptChild } from './kept-child.ts';
import { makePrivateFolder, type PrivateFolder } from './private-folder.ts';

/** One agent and one HAProxy on this machine, as children of this process. */
export interface LocalPod {
  readonly endpoint: PodEndpoint;
  readonly paths: FleetFacts['paths'];
  /** Ends both and removes the private folder. */
  stop(): Promise<void>;
}

export async function startLocalPod(
  options: LocalOptions,
  { log, clock }: { readonly log: Log; readonly clock: Clock },
): Promise<LocalPod> {
  if (options.dir !== undefined) mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  const folder = makePrivateFolder(options.dir);
  const keep = (name: string, command: string, args: readonly string[]): KeptChild =>
    new KeptChild({ name, command, args, clock, log: log.child({ program: name }) });
  const haptic = (name: string, args: readonly string[]): KeptChild =>
    keep(name, options.spawn.command, [...options.spawn.args, name, ...args]);
  const guard = keep('guard', 'sh', ['-c', GUARD_SCRIPT, ...guardArguments(folder, folder.dir)]);
  const haproxy = haptic('haproxy', haproxyArguments(options, folder));
  const agent = haptic('agent', agentArguments(options, folder));
  return {
    endpoint: { id: 'local', name: 'local', socketPath: folder.apiSocket, tokenFile: folder.tokenFile },
    paths: { base: join(folder.baseDir, 'current'), workerSocket: folder.workerSocket },
    stop: async () => {
      // The agent first: no reload while HAProxy stops.
      await agent.stop(2_000);
      await haproxy.stop(options.drain + 4_000);
      await guard.stop(500);
      folder.remove();
    },
  };
}

function haproxyArguments(options: LocalOptions, folder: PrivateFolder): string[] {
  return [...shared(folder), `--haproxy=${options.haproxy}`, `--drain=${options.drain}ms`];
}

function agentArguments(options: LocalOptions, folder: PrivateFolder): string[] {
  return [
    ...shared(folder),
    `--listen=unix:${folder.apiSocket}`,
    `--token-file=${folder.tokenFile}`,
    `--reload-interval-min=${options.reloadIntervalMin}ms`,
    `--reload-timeout=${options.applyTimeout}ms`,
  ];
}

function shared({ baseDir, socketDir }: PrivateFolder): string[] {
  return [`--base-dir=${baseDir}`, `--socket-dir=${socketDir}`, '--exit-with-parent'];
}
