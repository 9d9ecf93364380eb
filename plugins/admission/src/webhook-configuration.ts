import type { WatchContent } from '@haptic/core/contract';

export interface WebhookTarget {
  /** Name of the webhook configuration. */
  readonly name: string;
  /** `{service: {namespace, name, port, path}}` or `{url}`, and the bundle of the authority. */
  readonly clientConfig: Readonly<Record<string, unknown>>;
  /** Values of `spec.ingressClassName` and its annotation that are ours; `''` for objects without a class, too. */
  readonly ingressClasses: readonly string[];
}

/** A write that changes neither what an object says nor what it is labelled with is no change for anybody here. */
const CHANGES_SOMETHING = {
  name: 'changes-something',
  expression: [
    "request.operation != 'UPDATE'",
    'object.?spec != oldObject.?spec',
    'object.metadata.?labels != oldObject.metadata.?labels',
    'object.metadata.?annotations != oldObject.metadata.?annotations',
  ].join(' || '),
};

/** Foreign objects are never judged, and never wait for us when we are away. An object that changes sides is ours both times. */
function ownClasses(classes: readonly string[]): object {
  const list = `[${classes.map((name) => `'${name}'`).join(', ')}]`;
  const classOf = (object: string): string =>
    `${object}.spec.?ingressClassName.orValue(${object}.metadata.?annotations['kubernetes.io/ingress.class'].orValue(''))`;
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
  const judged = Object.values(watches).filter(({ admission }) => admission);
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: judged.map((watch) => ({
      name: `${watch.resources}.admission.haproxy-haptic.org`,
      clientConfig,
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      timeoutSeconds: 10,
      rules: [rule(watch)],
      matchConditions: [
        CHANGES_SOMETHING,
        ...(watch.resources === 'ingresses' ? [ownClasses(ingressClasses)] : []),
      ],
    })),
  };
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
