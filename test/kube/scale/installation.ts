import { haproxyBinary } from '../../../tools/haproxy/index.ts';
import { kubePrograms } from '../../../tools/kube/index.ts';
import { currentMinor, type TestCluster } from '../../cluster/index.ts';
import { freePort } from '../../haproxy/free-port.ts';
import { judgedWatch, WebhookPlace } from '../admission/webhook.ts';
import { ingressClass } from '../e2e/objects.ts';
import { startOrigins } from '../e2e/origins.ts';
import { World, type Controller, type HaproxyPod } from '../e2e/world.ts';
import { controllerRules } from '../rbac/controller-rules.ts';
import { createSites, siteHost } from './objects.ts';
import { timeUntil } from './measure.ts';
import { tlsInstallation, tlsRules } from './tls-library.ts';

const COLD_MS = 240_000;
/** A short run shows that it works, on a tree that nobody has built yet. */
const measuresBuilt = process.env['HAPTIC_SOAK'] === '1';

export interface Size {
  readonly sites: number;
  readonly certificates: boolean;
}

/** An installation with many sites in a cluster of its own, and a HAProxy that waits for its first plan. */
export class Installation {
  readonly cluster: TestCluster;
  readonly world: World;
  readonly pod: HaproxyPod;
  readonly haproxy: string;
  /** What answers for every site. */
  readonly address: string;
  readonly sites: number;
  readonly #kubeconfig: string;

  private constructor(
    parts: Pick<Installation, 'cluster' | 'world' | 'pod' | 'haproxy' | 'address' | 'sites'>,
    kubeconfig: string,
  ) {
    this.cluster = parts.cluster;
    this.world = parts.world;
    this.pod = parts.pod;
    this.haproxy = parts.haproxy;
    this.address = parts.address;
    this.sites = parts.sites;
    this.#kubeconfig = kubeconfig;
  }

  static async open(cluster: TestCluster, { sites, certificates }: Size): Promise<Installation> {
    const [{ kubectl }, haproxy] = await Promise.all([kubePrograms(currentMinor), haproxyBinary('3.4')]);
    const { name: namespace } = await cluster.access.namespace();
    const world = await World.open(cluster.access, kubectl, namespace);
    const { addresses, port } = await startOrigins(1);
    const [address = ''] = addresses;
    await world.install({}, 'all');
    if (certificates) {
      const listeners = { i80: { bind: `127.0.0.1:${world.port}` } };
      const settings = { listeners, tlsBind: `127.0.0.1:${await freePort()}` };
      await world.apply(...tlsInstallation(namespace, settings));
    }
    await world.apply(ingressClass);
    await createSites(cluster.access.api, { namespace, count: sites, address, port, certificates });
    const pod = await world.startPod('haproxy-0', haproxy);
    const rules = controllerRules();
    const granted = { ...rules, cluster: [...rules.cluster, ...(certificates ? tlsRules : [])] };
    const kubeconfig = await world.controllerKubeconfig(granted);
    return new Installation({ cluster, world, pod, haproxy, address, sites }, kubeconfig);
  }

  async serves(host: string): Promise<boolean> {
    return (await this.world.answer(this.pod, host).catch(() => 0)) === this.address;
  }

  startController(plugins: readonly object[] = []): Promise<Controller> {
    return this.world.startController([this.pod], {
      haproxy: this.haproxy,
      kubeconfig: this.#kubeconfig,
      plugins,
      // The memory of sources is that of their text and of its types, too.
      ...(measuresBuilt && { program: 'built' }),
    });
  }

  /** Milliseconds from the start of the process until every site is served. */
  async coldStart(
    plugins: readonly object[],
  ): Promise<{ readonly controller: Controller; readonly ms: number }> {
    const since = performance.now();
    const controller = await this.startController(plugins);
    // One plan brings all of them.
    const last = siteHost(this.sites - 1);
    const ms = await timeUntil(() => this.serves(last), { since, deadlineMs: COLD_MS }).catch(
      (cause: unknown) => {
        throw new Error(`nothing serves:\n${controller.stdout()}\n${controller.stderr()}`, { cause });
      },
    );
    return { controller, ms };
  }
}

/** What makes a controller judge changes, and an API server ask it. */
export class Webhook {
  readonly plugin: object;
  readonly #place: WebhookPlace;

  private constructor(place: WebhookPlace) {
    const { port, tls } = place;
    this.plugin = { use: '@haptic/admission', enabled: true, options: { host: '127.0.0.1', port, tls } };
    this.#place = place;
  }

  static async prepare({ world }: Installation): Promise<Webhook> {
    return new Webhook(await WebhookPlace.open(world.at.dir));
  }

  /** Changes of Ingresses are judged until the returned function is called. */
  register({ cluster }: Installation): Promise<() => Promise<unknown>> {
    return this.#place.register(cluster.access, 'haptic', { ingresses: judgedWatch() });
  }
}
