export { PrometheusMeter } from './prometheus-meter.ts';
