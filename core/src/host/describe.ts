import type { JudgeKind } from '../contract/finding.ts';
import type { PluginOrigin } from './enabled.ts';
import type { Host } from './host.ts';
import { redact } from './logging/redact.ts';

/** One plugin as `haptic plugins` lists it. */
export interface PluginDescription {
  readonly name: string;
  /** Its place in the order of set-up, from 1. */
  readonly position: number;
  readonly origin: PluginOrigin;
  readonly apiVersion: number;
  readonly judge?: JudgeKind;
  readonly after: readonly string[];
  readonly hooks: readonly string[];
  readonly services: readonly string[];
  /** With defaults; secrets redacted. */
  readonly options: unknown;
}

/** What is loaded, in order. */
export function describePlugins<H extends object>(host: Host<H>): PluginDescription[] {
  return host.plugins.map(({ plugin, options, origin }, index) => ({
    name: plugin.name,
    position: index + 1,
    origin,
    apiVersion: plugin.apiVersion,
    ...(plugin.judge === undefined ? {} : { judge: plugin.judge }),
    after: plugin.after ?? [],
    hooks: host.hooksOf(plugin.name),
    services: host.servicesOf(plugin.name),
    options: redact(options),
  }));
}
