import admission from '@haptic/admission';
import type { Hooks } from '@haptic/core/contract';
import type { Preset, PresetEntry } from '@haptic/core/host';
import deployAgent from '@haptic/deploy-agent';
import httpStore from '@haptic/http-store';
import health from '@haptic/health';
import ingress from '@haptic/ingress';
import kubeConnection from '@haptic/kube-connection';
import leader from '@haptic/leader';
import metrics from '@haptic/metrics';
import podDiscovery from '@haptic/pod-discovery';
import publish from '@haptic/publish';
import routing from '@haptic/routing';
import sourceCrd from '@haptic/source-crd';
import sourceFile from '@haptic/source-file';
import stateFile from '@haptic/state-file';
import stateKube from '@haptic/state-kube';
import validatorExternal from '@haptic/validator-external';
import validatorHaproxy from '@haptic/validator-haproxy';
import { buildFacts } from './build-facts.ts';
import { ownCommand } from './own-command.ts';
import { shippedLibraries } from './shipped-libraries.ts';
import { packageVersion } from './version.ts';

type Entries = readonly PresetEntry<Hooks>[];

/** Behind the state store, in which it keeps what was accepted. */
const contents: PresetEntry<Hooks> = { use: '@haptic/http-store', plugin: httpStore };

/** Of this machine alone, on a free port that the log tells. */
const onFreePort = { host: '127.0.0.1', port: 0 };

/** For probes; on one machine for whoever debugs. */
function answering(where: object): PresetEntry<Hooks> {
  return { use: '@haptic/health', plugin: health, options: { build: buildFacts, ...where } };
}

/** First of all: from then on everything that others measure is kept. */
function measuring(where: object): PresetEntry<Hooks> {
  return { use: '@haptic/metrics', plugin: metrics, options: { ...where } };
}

export interface JudgeChoice {
  /** The HAProxy program; `haproxy` from the PATH when absent. */
  readonly haproxy?: string | undefined;
  /** Go on without one that is not there: what it takes one to judge is not judged. */
  readonly haproxyOptional?: boolean;
  /** External validators that `haptic validate` does not ask. */
  readonly skipValidators?: readonly string[] | undefined;
}

export interface FolderChoice {
  /** The config set's folder, beside or over the shipped libraries. */
  readonly config?: string | undefined;
  readonly resources?: readonly string[] | undefined;
  /** Laid over the configuration's settings. */
  readonly settings?: object;
  readonly watch: boolean;
}

function haproxyOptions(haproxy: string | undefined, optional: boolean): Readonly<Record<string, unknown>> {
  if (haproxy !== undefined) return { binary: haproxy };
  return optional ? { optional } : {};
}

/** What every preset judges and routes with. */
function common({ haproxy, haproxyOptional = false, skipValidators = [] }: JudgeChoice): Entries {
  return [
    { use: '@haptic/routing', plugin: routing },
    { use: '@haptic/ingress', plugin: ingress },
    {
      use: '@haptic/validator-haproxy',
      plugin: validatorHaproxy,
      options: haproxyOptions(haproxy, haproxyOptional),
    },
    {
      use: '@haptic/validator-external',
      plugin: validatorExternal,
      options: { skip: [...skipValidators] },
    },
  ];
}

function folders({ config, resources = [], settings = {}, watch }: FolderChoice): Entries {
  const options = {
    libraries: shippedLibraries,
    resources,
    settings,
    watch,
    ...(config !== undefined && { config }),
  };
  return [{ use: '@haptic/source-file', plugin: sourceFile, options }];
}

export interface ClusterChoice {
  /** The kubeconfig file; the pod's service account or the user's own when absent. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  /** Of the installation; the pod's own or the context's when absent. */
  readonly namespace?: string | undefined;
  /** Name of the HAProxyTemplateConfig. */
  readonly configName?: string | undefined;
}

/** `haptic run` in a cluster: configuration and objects from its API, one leader, HAProxy pods with agents. */
export function clusterPreset(judge: JudgeChoice, choice: ClusterChoice): Preset<Hooks> {
  const { kubeconfig, context, namespace, configName } = choice;
  const connection = {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(namespace !== undefined && { namespace }),
  };
  const config = configName === undefined ? {} : { config: configName };
  return {
    version: packageVersion,
    plugins: [
      measuring({}),
      { use: '@haptic/kube-connection', plugin: kubeConnection, options: connection },
      // First: it says what the Lease and the state are named after.
      { use: '@haptic/source-crd', plugin: sourceCrd, options: config },
      { use: '@haptic/leader', plugin: leader },
      { use: '@haptic/state-kube', plugin: stateKube },
      { use: '@haptic/pod-discovery', plugin: podDiscovery },
      // Before those who read kinds: they say which objects are to have addresses.
      { use: '@haptic/publish', plugin: publish },
      ...common(judge),
      { use: '@haptic/deploy-agent', plugin: deployAgent, options: { mode: 'discover' } },
      contents,
      answering({}),
      // Needs a certificate, so it must be asked for.
      { use: '@haptic/admission', plugin: admission, enabled: false },
    ],
  };
}

/** `haptic run` without a cluster: the host configuration names the folders and the HAProxy pods. */
export function foldersPreset(judge: JudgeChoice): Preset<Hooks> {
  return {
    version: packageVersion,
    plugins: [
      measuring({}),
      { use: '@haptic/source-file', plugin: sourceFile, options: { libraries: shippedLibraries } },
      ...common(judge),
      { use: '@haptic/deploy-agent', plugin: deployAgent, options: { mode: 'static' } },
      { use: '@haptic/state-file', plugin: stateFile },
      contents,
      answering({}),
    ],
  };
}

/** `haptic up`: folders in, one supervised agent and HAProxy out. */
export function localPreset(judge: JudgeChoice, choice: FolderChoice): Preset<Hooks> {
  const haproxy = judge.haproxy === undefined ? {} : { haproxy: judge.haproxy };
  return {
    version: packageVersion,
    plugins: [
      measuring(onFreePort),
      ...folders(choice),
      ...common(judge),
      {
        use: '@haptic/deploy-agent',
        plugin: deployAgent,
        options: { mode: 'local', spawn: ownCommand(), ...haproxy },
      },
      // Behind the agent, which knows whether a folder is kept.
      { use: '@haptic/state-file', plugin: stateFile },
      contents,
      answering(onFreePort),
    ],
  };
}

/** A look at folders, nothing deployed: `render`, `validate`, which may look again. */
export function onceOnlyPreset(
  judge: JudgeChoice,
  choice: Omit<FolderChoice, 'watch'>,
  watch = false,
): Preset<Hooks> {
  const plugins = [...folders({ ...choice, watch }), ...common(judge), contents];
  return { version: packageVersion, plugins };
}
