import { InvalidArgumentError, Option, type Command } from 'commander';
import { nearest } from '@haptic/core/contract';
import { LOG_LEVELS, type LogLevel } from '@haptic/core/host';

export function examples(lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}`;
}

/** Flags that several commands share; each has its environment name. */
export const shared = {
  hostConfig: (): Option =>
    new Option('--host-config <file>', 'the host configuration (plugins and their options)').env(
      'HAPTIC_HOST_CONFIG',
    ),
  logLevel: (fallback: LogLevel): Option =>
    new Option('--log-level <level>', 'how much is logged')
      .choices(LOG_LEVELS)
      .default(fallback)
      .env('HAPTIC_LOG_LEVEL'),
  output: (formats: readonly string[] = ['text', 'json']): Option =>
    new Option('--output <format>', 'for people or for scripts')
      .choices(formats)
      .default('text')
      .env('HAPTIC_OUTPUT'),
  haproxy: (): Option =>
    new Option('--haproxy <path>', 'the HAProxy program (default: haproxy from the PATH)').env(
      'HAPTIC_HAPROXY',
    ),
  config: (): Option =>
    new Option('--config <dir>', "the configuration's folder (default: the shipped libraries)").env(
      'HAPTIC_CONFIG',
    ),
  resources: (): Option =>
    new Option('--resources <dir>', 'a folder of Kubernetes objects; may be repeated').argParser(
      (value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value],
    ),
  preset: (): Option =>
    new Option('--preset <name>', 'where configuration and objects come from')
      .choices(['cluster', 'folders'])
      .default('cluster')
      .env('HAPTIC_PRESET'),
  kubeconfig: (): Option =>
    new Option(
      '--kubeconfig <file>',
      'how to reach the cluster (default: the service account, else KUBECONFIG)',
    ).env('HAPTIC_KUBECONFIG'),
  context: (): Option =>
    new Option('--context <name>', 'a context of the kubeconfig (default: the current one)').env(
      'HAPTIC_CONTEXT',
    ),
  namespace: (): Option =>
    new Option(
      '--namespace <name>',
      "the installation's namespace (default: the pod's or the context's)",
    ).env('HAPTIC_NAMESPACE'),
  configName: (): Option =>
    new Option('--config-name <name>', 'the HAProxyTemplateConfig (default: haptic)').env(
      'HAPTIC_CONFIG_NAME',
    ),
} as const;

const mandatoryOptions = new WeakSet<Option>();

/** Not commander's own way: it complains of the missing option before the unknown one that is its misspelling. */
export function mandatory(option: Option): Option {
  mandatoryOptions.add(option);
  return option;
}

/** Before a command's action. */
export function checkMandatory(command: Command): void {
  for (const option of command.options) {
    if (!mandatoryOptions.has(option) || command.getOptionValue(option.attributeName()) !== undefined)
      continue;
    command.error(`error: required option '${option.flags}' not specified`);
  }
}

/** Before a command's action, and before anything else is missed: who misspells a command means that one. */
export function checkNestedCommand(command: Command): void {
  const { args, commands } = command;
  const [word] = args;
  if (word === undefined || commands.length === 0) return;
  const found = nearest(
    word,
    commands.map((nested) => nested.name()),
  );
  const suggestion = found === undefined ? '' : `\n(Did you mean ${found}?)`;
  command.error(`error: unknown command '${word}'${suggestion}`);
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `2s`, `500ms`, `1m`. */
export function milliseconds(text: string): number {
  const found = /^(\d+)(ms|s|m|h)$/.exec(text);
  if (found === null) throw new InvalidArgumentError('expected a duration such as 500ms, 2s or 1m');
  return Number(found[1]) * units[found[2] as keyof typeof units];
}
