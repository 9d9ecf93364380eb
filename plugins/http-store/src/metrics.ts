import type { MetricDefinition } from '@haptic/core/contract';

/** `changed` and `unchanged` are about the text, `forbidden` about the rules of hosts and addresses. */
export type FetchResult = 'changed' | 'unchanged' | 'failed' | 'forbidden';

export const fetchTotal: MetricDefinition = {
  name: 'haptic_http_store_fetch_total',
  help: 'Attempts to fetch a URL that templates ask for.',
  labels: ['result'],
};

export const fetchDuration: MetricDefinition = {
  name: 'haptic_http_store_fetch_duration_seconds',
  help: 'How long attempts to fetch took.',
  labels: ['result'],
};

export const verdictTotal: MetricDefinition = {
  name: 'haptic_http_store_verdict_total',
  help: 'Contents that were accepted or refused.',
  labels: ['verdict'],
};
