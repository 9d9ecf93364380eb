import type { MetricDefinition } from '@haptic/core/contract';

export const TLS_RELOAD_FAILURES: MetricDefinition = {
  name: 'haptic_agent_tls_reload_failures_total',
  help: 'Changed certificate files that could not be used; the former ones stay in use.',
};
export const TLS_REFUSED: MetricDefinition = {
  name: 'haptic_agent_tls_refused_connections_total',
  help: 'TLS connections that were refused before a request.',
};
export const TLS_EXPIRY: MetricDefinition = {
  name: 'haptic_agent_tls_certificate_expiry_timestamp_seconds',
  help: "When the agent's own certificate expires, in seconds since the epoch.",
};
export const INVARIANT_VIOLATIONS: MetricDefinition = {
  name: 'haptic_agent_invariant_violations_total',
  help: 'Errors that the code does not expect.',
};
