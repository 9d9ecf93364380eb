import { KubeConfig } from '@kubernetes/client-node';
import { Refused } from '@haptic/core/contract';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';

export interface KubeConfigOptions {
  /** A kubeconfig file. Without one: in the pod's own service account when there is one, else `KUBECONFIG` or `~/.kube/config`. */
  readonly file?: string;
  /** A kubeconfig as text. */
  readonly text?: string;
  readonly context?: string;
}

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** @throws Refused when there is no usable configuration, naming what was looked at. */
export function loadKubeConfig(options: KubeConfigOptions = {}): KubeConfig {
  const config = new KubeConfig();
  const source = options.file ?? (options.text === undefined ? 'the environment' : 'the given text');
  try {
    if (options.text !== undefined) config.loadFromString(options.text);
    else if (options.file !== undefined) config.loadFromFile(options.file);
    else if (existsSync(SERVICE_ACCOUNT_TOKEN)) config.loadFromCluster();
    else loadUserConfig(config);
  } catch (error) {
    throw new Refused(`kubeconfig from ${source}: ${(error as Error).message}`);
  }
  if (options.context !== undefined) selectContext(config, options.context, source);
  if (!config.getCurrentCluster()) throw new Refused(`kubeconfig from ${source} names no current cluster`);
  return config;
}

/** client-node would fall back to a server on this machine that nobody named. */
function loadUserConfig(config: KubeConfig): void {
  const files = process.env['KUBECONFIG'] ?? join(homedir(), '.kube', 'config');
  if (!files.split(delimiter).some((file) => existsSync(file))) throw new Error(`there is no ${files}`);
  config.loadFromDefault();
}

function selectContext(config: KubeConfig, context: string, source: string): void {
  const names = config.getContexts().map(({ name }) => name);
  if (!names.includes(context)) {
    throw new Refused(
      `kubeconfig from ${source} has no context "${context}", only ${names.join(', ') || 'none'}`,
    );
  }
  config.setCurrentContext(context);
}
