import { isDeepStrictEqual } from 'node:util';
import type { ConfigVersion, Outcome, Pod, Rendered } from '@haptic/core/contract';
import {
  applyObject,
  FIELD_MANAGER,
  getObject,
  haproxyCfgResource,
  isApiError,
  mergeObject,
  type KubeApi,
} from '@haptic/kube';
import { installationLabel, MANAGED_BY, ownerReference } from '../names.ts';
import { onlyOver } from '../writing/fence.ts';
import { Later } from '../writing/later.ts';
import { canOwn, isBeingDeleted, isOwnedBy } from '../writing/owner.ts';
import type { Pass } from '../writing/writer.ts';
import { specOf } from './spec.ts';
import { statusOf } from './status.ts';

export interface DesiredCfg {
  readonly rendered: Rendered;
  readonly config: ConfigVersion;
  readonly content: boolean;
  /** Milliseconds. */
  readonly interval: number;
}

export interface HAProxyCfgParts {
  readonly api: KubeApi;
  readonly pods: () => readonly Pod[];
  readonly wall: () => number;
}

/** The HAProxyCfg of an installation: what was released last, and how far the pods are. It has the name of the config. */
export class HAProxyCfg {
  readonly #parts: HAProxyCfgParts;
  readonly #outcomes = new Map<string, { readonly outcome: Outcome; readonly uid: string | undefined }>();

  constructor(parts: HAProxyCfgParts) {
    this.#parts = parts;
  }

  applied(outcomes: readonly Outcome[]): void {
    const uids = new Map(this.#parts.pods().map(({ name, uid }) => [name, uid]));
    for (const outcome of outcomes) this.#outcomes.set(outcome.pod, { outcome, uid: uids.get(outcome.pod) });
  }

  /** Not while the config is gone or another one: it would go with it at once. */
  async write({ rendered, config, content }: DesiredCfg, { signal }: Pick<Pass, 'signal'>): Promise<void> {
    const { api, pods, wall } = this.#parts;
    const { namespace, name } = config;
    const key = { resource: haproxyCfgResource, namespace, name };
    let live = await getObject(api, key, { signal });
    const spec = specOf(rendered, content);
    if (live === undefined || !isOwnedBy(live, config) || !isDeepStrictEqual(live['spec'], spec)) {
      if (!(await canOwn(api, config, signal))) return;
      if (live !== undefined && isBeingDeleted(live)) throw new Later('the former one is being deleted');
      const metadata = {
        labels: { [MANAGED_BY]: installationLabel(config) },
        ownerReferences: [ownerReference(config)],
        ...onlyOver(live),
      };
      // The kind is ours alone.
      const options = { fieldManager: FIELD_MANAGER, force: true, signal };
      live = await applyObject(api, key, { metadata, spec }, options);
    }
    const current = pods();
    const outcomes = this.#outcomesOf(current);
    const { status: before } = live as { readonly status?: { readonly conditions?: unknown } };
    const status = statusOf(rendered.plan.id, current, outcomes, before?.conditions, wall());
    if (isDeepStrictEqual(before, status)) return;
    const { uid, resourceVersion } = live.metadata;
    await mergeObject(
      api,
      key,
      { metadata: { uid, resourceVersion }, status },
      { subresource: 'status', fieldManager: FIELD_MANAGER, signal },
    ).catch((error: unknown) => {
      if (isApiError(error, 404)) throw new Later('it was deleted meanwhile, and is made anew');
      throw error;
    });
  }

  /** Without those of pods that have gone: the next one of a name has another uid. */
  #outcomesOf(pods: readonly Pod[]): ReadonlyMap<string, Outcome> {
    const current = new Map(pods.map(({ name, uid }) => [name, { uid }]));
    for (const [name, { uid }] of this.#outcomes) {
      const pod = current.get(name);
      if (pod === undefined || pod.uid !== uid) this.#outcomes.delete(name);
    }
    return new Map(this.#outcomes.entries().map(([name, { outcome }]) => [name, outcome]));
  }
}
