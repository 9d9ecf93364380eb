export { systemClock } from './clock.ts';
export { controllerRules, createHooks } from './controller-hooks.ts';
export type { EnabledPlugin, PluginOrigin, ReadyPlugin } from './enabled.ts';
export { Host, type HealthReport, type HostOptions } from './host.ts';
export { noMeter } from './meter.ts';
export type { PendingRun } from './pending.ts';
export { offer, type ServiceOffer } from './services.ts';
