import type { WatchContent } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { webhookConfiguration } from './webhook-configuration.ts';

const watch: WatchContent = {
  apiVersions: ['v1'],
  resources: 'configmaps',
  optional: false,
  indexBy: [],
  namespaces: [],
  ignoreFields: [],
  admission: true,
  debounce: 0,
};

interface Webhook {
  readonly name: string;
  readonly namespaceSelector?: object;
  readonly objectSelector?: object;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
}

function webhooks(watches: Readonly<Record<string, Partial<WatchContent>>>): readonly Webhook[] {
  const whole = Object.entries(watches).map(([name, part]) => [name, { ...watch, ...part }] as const);
  const target = { name: 'haptic', clientConfig: {}, ingressClasses: ['haptic'] };
  const made = webhookConfiguration(target, Object.fromEntries(whole));
  return (made as { readonly webhooks: readonly Webhook[] }).webhooks;
}

describe('a webhook configuration', () => {
  test('names a webhook for each watch, in words of domains', () => {
    const names = webhooks({ pages: {}, Pages: {}, tls_pages: {}, _: {}, silent: { admission: false } }).map(
      ({ name }) => name,
    );
    expect(new Set(names).size).toBe(4);
    expect(names[0]).toBe('pages.admission.haproxy-haptic.org');
    for (const name of names) {
      expect(name).toMatch(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?\.admission\.haproxy-haptic\.org$/);
    }
  });

  test('asks where a watch looks, and nowhere else', () => {
    const [selecting, all] = webhooks({
      selecting: { namespaces: ['a', 'b'], labelSelector: 'app in (x, y), tier!=z, !old, new, size>3' },
      all: {},
    });
    expect(selecting).toMatchObject({
      namespaceSelector: {
        matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['a', 'b'] }],
      },
      objectSelector: {
        matchExpressions: [
          { key: 'app', operator: 'In', values: ['x', 'y'] },
          { key: 'tier', operator: 'NotIn', values: ['z'] },
          { key: 'old', operator: 'DoesNotExist' },
          { key: 'new', operator: 'Exists' },
        ],
      },
    });
    expect(all).not.toHaveProperty('namespaceSelector');
    expect(all).not.toHaveProperty('objectSelector');
  });

  test('has no selector of namespaces for Namespaces, which are in none', () => {
    expect(webhooks({ names: { resources: 'namespaces', namespaces: ['a'] } })[0]).not.toHaveProperty(
      'namespaceSelector',
    );
  });
});
