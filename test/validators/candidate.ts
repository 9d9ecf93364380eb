import type { Candidate, MergedConfig } from '@haptic/core/contract';
import { validatorsSchema } from '@haptic/validator-external';
import { renderedFiles } from '../judge/file-set.ts';

export const stagedRoot = '/etc/haproxy';

/** A configuration that declares these validators; nobody here looks at the rest of it. */
export function configOf(validators: readonly object[]): MergedConfig {
  return { owned: { validators: validatorsSchema.parse(validators) } } as unknown as MergedConfig;
}

/** Files, and who is declared to judge them. */
export function candidateOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  ...validators: readonly object[]
): Candidate {
  return {
    rendered: renderedFiles(files),
    config: configOf(validators),
    view: {} as Candidate['view'],
    fleet: { haproxyVersion: '3.4.7', paths: { base: stagedRoot, workerSocket: '/run/worker.sock' } },
  };
}
