import { webhookConfiguration } from '@haptic/admission';
import type { WatchContent } from '@haptic/core/contract';
import { createObject, deleteObject } from '@haptic/kube';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority } from '../../cluster/certificates.ts';
import type { ClusterAccess } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { freePort } from '../../haproxy/free-port.ts';

const configurations = {
  apiVersion: 'admissionregistration.k8s.io/v1',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

/** A watch that asks for judgement, of Ingresses where nothing else is said. */
export function judgedWatch(content: Partial<WatchContent> = {}): WatchContent {
  return {
    apiVersions: ['networking.k8s.io/v1'],
    resources: 'ingresses',
    optional: false,
    indexBy: [],
    namespaces: [],
    ignoreFields: [],
    admission: true,
    debounce: 0,
    ...content,
  };
}

/** Where a webhook answers, with files of certificates that an API server trusts. */
export class WebhookPlace {
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string };
  readonly #authority: CertificateAuthority;

  private constructor(port: number, tls: WebhookPlace['tls'], authority: CertificateAuthority) {
    this.port = port;
    this.tls = tls;
    this.#authority = authority;
  }

  static async open(dir: string): Promise<WebhookPlace> {
    const tls = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
    const place = new WebhookPlace(await freePort(), tls, await CertificateAuthority.create('webhook'));
    await place.certify();
    return place;
  }

  get ca(): string {
    return this.#authority.pair.cert;
  }

  /** Another certificate of the same authority. */
  async certify(): Promise<void> {
    const pair = await this.#authority.issue({ commonName: 'haptic', ips: ['127.0.0.1'] });
    for (const part of ['cert', 'key'] as const) {
      await writeFile(`${this.tls[part]}.new`, pair[part]);
      await rename(`${this.tls[part]}.new`, this.tls[part]);
    }
  }

  /** Until the test ends, or the returned function is called, API servers ask here about these watches. */
  async register(
    { api }: ClusterAccess,
    name: string,
    watches: Readonly<Record<string, WatchContent>>,
  ): Promise<() => Promise<unknown>> {
    const clientConfig = {
      url: `https://127.0.0.1:${this.port}/validate`,
      caBundle: Buffer.from(this.ca).toString('base64'),
    };
    const target = { name, clientConfig, ingressClasses: ['haptic'] };
    const configuration = { ...webhookConfiguration(target, watches), metadata: { name } };
    await createObject(api, configurations, configuration);
    const remove = (): Promise<unknown> => deleteObject(api, { resource: configurations, name });
    onCleanup(async () => void (await remove()));
    return remove;
  }
}
