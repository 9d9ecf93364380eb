import type { MetricDefinition } from '@haptic/core/contract';

/** What the agent measures. Every label has a handful of values: no names of plans, files or hosts. */

export const BUILD_INFO: MetricDefinition = {
  name: 'haptic_agent_build_info',
  help: 'Always 1; the labels tell the version of the agent and of its protocol.',
  labels: ['version', 'protocol'],
};
export const APPLIES: MetricDefinition = {
  name: 'haptic_agent_applies_total',
  help: 'Finished applies by the mode that was asked for and by what became of them; the end of a scheduled reload is one of mode scheduled.',
  labels: ['mode', 'outcome'],
};
export const APPLY_DURATION: MetricDefinition = {
  name: 'haptic_agent_apply_duration_seconds',
  help: 'How long applies took, without the time that they waited for others.',
  labels: ['outcome'],
};
export const REJECTIONS: MetricDefinition = {
  name: 'haptic_agent_rejections_total',
  help: 'Rejected applies by the stage that they had got to.',
  labels: ['stage'],
};
export const CONFLICTS: MetricDefinition = {
  name: 'haptic_agent_conflicts_total',
  help: 'Applies that wrote nothing because they were not made for what is in place, by reason.',
  labels: ['reason'],
};
export const RELOADS: MetricDefinition = {
  name: 'haptic_agent_reloads_total',
  help: 'Reloads of HAProxy: loaded, refused by HAProxy, or unknown where there was no verdict.',
  labels: ['result'],
};
export const RELOAD_DURATION: MetricDefinition = {
  name: 'haptic_agent_reload_duration_seconds',
  help: 'How long HAProxy took to load files, or to refuse them.',
};
export const FALL_BACKS: MetricDefinition = {
  name: 'haptic_agent_fall_backs_total',
  help: 'Applies whose operations did not do, so that the files were loaded instead.',
};
export const ROLLBACKS: MetricDefinition = {
  name: 'haptic_agent_rollbacks_total',
  help: 'Applies whose files had been put in place and were taken back.',
};
export const OPERATION_ERRORS: MetricDefinition = {
  name: 'haptic_agent_operation_errors_total',
  help: 'Operations that HAProxy refused, or of which it is not known what became of them; map stands for map.add, map.set and map.replace, and so on.',
  labels: ['op', 'result'],
};
export const DEFERRED_DELETES: MetricDefinition = {
  name: 'haptic_agent_deferred_deletes_pending',
  help: 'What is out of use in the running worker and waits to be deleted.',
};
export const SKEW: MetricDefinition = {
  name: 'haptic_agent_skew_total',
  help: 'Things in applies that this agent does not know, by kind; it loads everything instead.',
  labels: ['kind'],
};
export const KNOWN_BAD_HITS: MetricDefinition = {
  name: 'haptic_agent_known_bad_hits_total',
  help: 'Reloads that were not tried again because HAProxy had refused the same files a moment ago.',
};
export const GENERATION: MetricDefinition = {
  name: 'haptic_agent_generation',
  help: 'Committed applies since the beginning, kept over restarts.',
};
export const INVARIANT_VIOLATIONS: MetricDefinition = {
  name: 'haptic_agent_invariant_violations_total',
  help: 'Errors that the code does not expect; the log has them.',
};
export const TLS_RELOAD_FAILURES: MetricDefinition = {
  name: 'haptic_agent_tls_reload_failures_total',
  help: 'Changed certificate files that could not be used; the former ones stay in use.',
};
export const TLS_REFUSED: MetricDefinition = {
  name: 'haptic_agent_tls_refused_connections_total',
  help: 'TLS connections that ended before a request.',
};
export const TLS_EXPIRY: MetricDefinition = {
  name: 'haptic_agent_tls_certificate_expiry_timestamp_seconds',
  help: "When the agent's own certificate expires, in seconds since the epoch.",
};
