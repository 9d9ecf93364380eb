import type { MetricDefinition } from '@haptic/core/contract';

/**
 * What the controller measures of its own work; plugins define what they measure themselves. No label names an object, a host, a
 * path or a plan: there may be any number of those.
 */

export const RECONCILIATIONS: MetricDefinition = {
  name: 'haptic_reconciliation_total',
  help: 'Renders of the live objects for the pods, those that failed included.',
};
export const RECONCILIATION_DURATION: MetricDefinition = {
  name: 'haptic_reconciliation_duration_seconds',
  help: 'Time that a render for the pods and all judges of it took together.',
};
export const RECONCILIATION_ERRORS: MetricDefinition = {
  name: 'haptic_reconciliation_errors_total',
  help: 'Renders for the pods that failed or were refused; what served went on serving.',
};
export const RENDERS: MetricDefinition = {
  name: 'haptic_render_total',
  help: 'Completed renders by who asked for them.',
  labels: ['caller'],
};
export const RENDER_DURATION: MetricDefinition = {
  name: 'haptic_render_duration_seconds',
  help: 'How long completed renders took.',
};
export const RENDER_ERRORS: MetricDefinition = {
  name: 'haptic_render_errors_total',
  help: 'Renders for the pods that failed.',
};
export const VALIDATION_DURATION: MetricDefinition = {
  name: 'haptic_validation_duration_seconds',
  help: 'How long a judge took over one set of files, whoever asked and whatever it answered.',
  labels: ['judge'],
};

export const CONFIG_REJECTED: MetricDefinition = {
  name: 'haptic_config_rejected_total',
  help: 'Configurations that must not serve, by the reason of the condition Validated; each try counts.',
  labels: ['reason'],
};
export const CONFIG_VALIDATED: MetricDefinition = {
  name: 'haptic_config_validated',
  help: '1 for the reason that the condition Validated of the newest configuration has, 0 for the others.',
  labels: ['reason'],
};
export const CONFIG_HELD: MetricDefinition = {
  name: 'haptic_config_held',
  help: '1 while a library is missing or of another revision, so that the last whole set goes on serving.',
};

export const GATE_LATCHED: MetricDefinition = {
  name: 'haptic_gate_latched',
  help: '1 while renders are judged by HAProxy before they go out, 0 while they go out at once.',
};
export const PROFILES: MetricDefinition = {
  name: 'haptic_profiles',
  help: 'Shared defaults sections of the last accepted plan.',
};
export const RESOURCES: MetricDefinition = {
  name: 'haptic_resources',
  help: 'Objects of a watch in the view that the last accepted plan was rendered from.',
  labels: ['watch'],
};

export const APPLIES: MetricDefinition = {
  name: 'haptic_deploy_apply_total',
  help: 'Plans that a pod took, by how; scheduled: its agent loads it when it may.',
  labels: ['pod', 'mode'],
};
export const APPLIES_REJECTED: MetricDefinition = {
  name: 'haptic_apply_rejected_total',
  help: 'Plans that a pod rejected.',
  labels: ['pod'],
};
export const DEPLOY_DURATION: MetricDefinition = {
  name: 'haptic_deploy_duration_seconds',
  help: 'How long pods took to take a plan.',
  labels: ['mode'],
};
export const RELOADS: MetricDefinition = {
  name: 'haptic_haproxy_reloads_total',
  help: 'Reloads of HAProxy in all pods that ended an apply; agents count all of theirs in haptic_agent_reloads_total.',
};
export const SKEW: MetricDefinition = {
  name: 'haptic_agent_version_skew_total',
  help: 'Things in plans that an agent did not know, so that it reloaded instead: it is older than the controller.',
};
export const PROPAGATION: MetricDefinition = {
  name: 'haptic_propagation_seconds',
  help: 'Time from the first change of a plan until every pod ran it.',
};
export const FLEET_SIZE: MetricDefinition = {
  name: 'haptic_fleet_size',
  help: 'HAProxy pods that are known.',
};
export const FLEET_CONVERGED: MetricDefinition = {
  name: 'haptic_fleet_converged',
  help: '1 while every pod runs the plan that is to be run.',
};

export const IS_LEADER: MetricDefinition = {
  name: 'haptic_leader_is_leader',
  help: '1 in the controller that deploys.',
};
export const LEADER_TRANSITIONS: MetricDefinition = {
  name: 'haptic_leader_transitions_total',
  help: 'How often this controller began or ceased to lead.',
};
