export { systemClock } from './clock.ts';
export { controllerRules, createHooks } from './controller-hooks.ts';
export type { EnabledPlugin, PluginOrigin, ReadyPlugin } from './enabled.ts';
export { Host, type HostOptions } from './host.ts';
export { noMeter, RelayMeter } from './meter.ts';
export type { PendingRun } from './pending.ts';
export { offer, type ServiceOffer } from './services.ts';
export { describePlugins, type PluginDescription } from './describe.ts';
export { enabledPlugins, type Preset, type PresetEntry } from './loading/preset.ts';
export { readHostConfig, type HostConfig } from './loading/host-config.ts';
export {
  createLogger,
  LOG_LEVELS,
  type LogDestination,
  type Logger,
  type LogLevel,
} from './logging/logger.ts';
export { redact } from './logging/redact.ts';
export { shutdown, type ShutdownStep } from './shutdown.ts';
export { stopSignal } from './stop-signal.ts';
