import { delimiter, isAbsolute, join } from 'node:path';
import type { Run } from '../cache/command.ts';
import { installFromModules, installedTool } from './go-build.ts';
import { pinnedVersion } from './pinned-version.ts';
import { toolVersion } from './probe.ts';
import { etcd, helm, kubernetesPrograms, type KubeMinor, type Program, type Tool } from './programs.ts';
import { ToolUnavailable } from './unavailable.ts';

export { isKubeMinor, kubeMinors, type KubeMinor } from './programs.ts';
export { ToolUnavailable } from './unavailable.ts';

export interface ToolOptions {
  /** Receives progress lines. */
  readonly log?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Absolute paths of all that a cluster of one minor release is made of. */
export type KubePrograms = Readonly<Record<Exclude<Tool, 'helm'>, string>>;

/** @throws ToolUnavailable saying what was tried. */
export async function kubePrograms(minor: KubeMinor, options: ToolOptions = {}): Promise<KubePrograms> {
  const found: Partial<Record<Tool, string>> = {};
  // One after the other: they share packages, and the machine.
  for (const program of [...kubernetesPrograms(minor), etcd]) {
    found[program.tool] = await findTool(program, options);
  }
  return found as KubePrograms;
}

/** @throws ToolUnavailable saying what was tried. */
export function etcdBinary(options: ToolOptions = {}): Promise<string> {
  return findTool(etcd, options);
}

/** @throws ToolUnavailable saying what was tried. */
export function helmBinary(options: ToolOptions = {}): Promise<string> {
  return findTool(helm, options);
}

/** The program from KUBEBUILDER_ASSETS, PATH or the cache, or built into the cache. */
async function findTool(program: Program, options: ToolOptions): Promise<string> {
  const version = await pinnedVersion(program);
  const attempts: string[] = [];
  const system = await systemTool(program, version, attempts);
  if (system !== undefined) return system;
  const cached = await installedTool(program, version);
  if (cached !== undefined) return cached;
  const run: Run = { log: options.log ?? (() => undefined), signal: options.signal };
  try {
    return await installFromModules(run, program, version);
  } catch (error) {
    options.signal?.throwIfAborted();
    attempts.push(`building it: ${(error as Error).message}`);
    throw new ToolUnavailable(program.tool, version, attempts);
  }
}

async function systemTool(program: Program, pinned: string, attempts: string[]): Promise<string | undefined> {
  const assets = process.env['KUBEBUILDER_ASSETS'] ?? '';
  const folders = [assets, ...(process.env['PATH'] ?? '').split(delimiter)].filter(isAbsolute);
  const seen: string[] = [];
  for (const folder of new Set(folders)) {
    const binary = join(folder, program.tool);
    const version = await toolVersion(program, binary);
    if (version === undefined) continue;
    if (program.fits(version, pinned)) return binary;
    seen.push(`${binary} is ${version}`);
  }
  attempts.push(`KUBEBUILDER_ASSETS and PATH: ${seen.join(', ') || `no ${program.tool}`}`);
  return undefined;
}
