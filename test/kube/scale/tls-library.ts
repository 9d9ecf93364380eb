import type { AccessRule } from '@haptic/kube';
import { configObject, libraryObject } from '../e2e/installation.ts';

/** What a library needs that watches certificates. */
export const tlsRules: readonly AccessRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] },
];

/** The certificate of every host of an Ingress that has one: no more than a test of sizes needs. */
const CERTIFICATES = `
{% if resources.secrets.list().length > 0 %}
{% for ingress in resources.ingresses.list() %}
{% for tls in ingress.spec.tls ?? [] %}
{% set secret = resources.secrets.get(ingress.metadata.namespace, tls.secretName) %}
{% if secret %}
{% memo tls, secret %}
{% cert tls.secretName, secret %}
{% crt "sites", tls.secretName, "", tls.hosts %}
{% endmemo %}
{% endif %}
{% endfor %}
{% endfor %}
bind {{ settings.tlsBind }} name i80-tls ssl crt-list {{ path("crt-list", "sites") }}
{% endif %}
`;

/** The shipped libraries and this one, with a config over all of them. */
export function tlsInstallation(namespace: string, settings: object): readonly object[] {
  const libraries = [libraryObject(namespace, 'base'), libraryObject(namespace, 'ingress')];
  const [base] = libraries;
  const tls = {
    ...base!,
    metadata: { ...base!.metadata, name: 'tls' },
    spec: {
      revision: 'tls-1',
      watchedResources: { secrets: { apiVersion: 'v1', resources: 'secrets' } },
      templateSnippets: { 'frontend-bind-tls': { template: CERTIFICATES } },
    },
  };
  const all = [...libraries, tls];
  return [...all, configObject(namespace, all, { settings })];
}
