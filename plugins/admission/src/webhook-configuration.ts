import { createHash } from 'node:crypto';
import type { WatchContent } from '@haptic/core/contract';
import { celText, fieldCondition, namespaceSelector, objectSelector } from './selection.ts';

export interface WebhookTarget {
  /** Name of the webhook configuration. */
  readonly name: string;
  /** `{service: {namespace, name, port, path}}` or `{url}`, and the bundle of the authority. */
  readonly clientConfig: Readonly<Record<string, unknown>>;
  /** Values of `spec.ingressClassName` and its annotation that are ours; `''` for objects without a class, too. */
  readonly ingressClasses: readonly string[];
}

/**
 * A write that changes neither what an object says nor what it is labelled with is no change for anybody here. What an object says is
 * everything but its metadata and status: kinds have a `spec`, or `data`, `endpoints`, `rules` and whatever else at the top.
 */
const CHANGES_SOMETHING = {
  name: 'changes-something',
  expression: [
    "request.operation != 'UPDATE'",
    `object.exists(key, !(key in ['metadata', 'status']) && (!(key in oldObject) || object[key] != oldObject[key]))`,
    `oldObject.exists(key, !(key in ['metadata', 'status']) && !(key in object))`,
    'object.metadata.?labels != oldObject.metadata.?labels',
    'object.metadata.?annotations != oldObject.metadata.?annotations',
  ].join(' || '),
};

/** Foreign objects are never judged, and never wait for us when we are away. An object that changes sides is ours both times. */
function ownClasses(classes: readonly string[]): object {
  const list = `[${classes.map(celText).join(', ')}]`;
  const classOf = (object: string): string =>
    `${object}.?spec.?ingressClassName.orValue(${object}.metadata.?annotations['kubernetes.io/ingress.class'].orValue(''))`;
  const expression = `${classOf('object')} in ${list} || (request.operation == 'UPDATE' && ${classOf('oldObject')} in ${list})`;
  return { name: 'own-class', expression };
}

/**
 * The object that makes an API server ask about watched resources with `admission: true`. There is none for deletions, which always
 * take effect, and none for our own kinds: admission sees one object at a time and cannot judge a change of several.
 */
export function webhookConfiguration(
  { name, clientConfig, ingressClasses }: WebhookTarget,
  watches: Readonly<Record<string, WatchContent>>,
): object {
  const judged = Object.entries(watches).filter(([, { admission }]) => admission);
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: judged.map(([watchName, watch]) => ({
      name: `${domainLabel(watchName)}.admission.haproxy-haptic.org`,
      clientConfig,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      rules: [rule(watch)],
      ...selectors(watch),
      matchConditions: conditions(watch, ingressClasses),
    })),
  };
}

/** Who writes what no watch sees never waits for us. */
function selectors(watch: WatchContent): object {
  const [namespaces, objects] = [namespaceSelector(watch), objectSelector(watch)];
  return {
    ...(namespaces !== undefined && { namespaceSelector: namespaces }),
    ...(objects !== undefined && { objectSelector: objects }),
  };
}

function conditions(watch: WatchContent, ingressClasses: readonly string[]): readonly object[] {
  const expression = fieldCondition(watch);
  return [
    CHANGES_SOMETHING,
    ...(expression === undefined ? [] : [{ name: 'selected-fields', expression }]),
    ...(watch.resources === 'ingresses' ? [ownClasses(ingressClasses)] : []),
  ];
}

function rule({ apiVersions, resources }: WatchContent): object {
  const parts = apiVersions.map((apiVersion) => apiVersion.split('/'));
  return {
    operations: ['CREATE', 'UPDATE'],
    apiGroups: [...new Set(parts.map(([group = '', version]) => (version === undefined ? '' : group)))],
    apiVersions: [...new Set(parts.map(([group = '', version = group]) => version))],
    resources: [resources],
  };
}

/** Several watches may see one resource, and an API server wants one name for each. Names of watches have letters that domains have not. */
function domainLabel(watchName: string): string {
  if (/^[a-z0-9]+$/.test(watchName)) return watchName;
  const readable = watchName
    .toLowerCase()
    .replaceAll('_', '-')
    .replaceAll(/^-+|-+$/g, '');
  const unique = createHash('sha256').update(watchName).digest('hex').slice(0, 8);
  return readable === '' ? unique : `${readable}-${unique}`;
}
