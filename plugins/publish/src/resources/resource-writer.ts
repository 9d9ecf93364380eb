import {
  Cancelled,
  Retry,
  type ConfigVersion,
  type JsonObject,
  type KubeObject,
  type Log,
} from '@haptic/core/contract';
import {
  applyObject,
  deleteObject,
  getObject,
  isApiError,
  type KubeConnection,
  type Occurrence,
} from '@haptic/kube';
import { configRef, FIELD_MANAGER, installationLabel, MANAGED_BY } from '../names.ts';
import { asksToWait } from '../writing/attempts.ts';
import { Complaints, isPassing } from '../writing/complaints.ts';
import type { Inventory } from '../writing/inventory.ts';
import type { Pass } from '../writing/writer.ts';
import { type AppliedResource, type appliedResources, keyOf, resourceKey } from './applied-resources.ts';
import { declaredResource, type DeclaredResource } from './declared-resources.ts';

export interface DesiredResources {
  /** Of the released plan. */
  readonly declared: readonly JsonObject[];
  readonly config: ConfigVersion;
}

export interface ResourceWriterParts {
  readonly kube: Pick<KubeConnection, 'api' | 'discovery'>;
  readonly inventory: Inventory<typeof appliedResources>;
  readonly record: (occurrence: Occurrence) => void;
  readonly log: Log;
}

/** The object is somebody else's, or a field of it is. */
class Foreign extends Error {}

/**
 * Applies what a release declares, and deletes what it declares no more. What there may be of ours is kept before it is applied, so
 * nothing is ever left behind; what does not bear our label is never touched.
 */
export class ResourceWriter {
  readonly #parts: ResourceWriterParts;
  readonly #complaints: Complaints;
  /** What each was applied with, and right. */
  readonly #right = new Map<string, string>();

  constructor(parts: ResourceWriterParts) {
    this.#parts = parts;
    this.#complaints = new Complaints(parts.log);
  }

  /** @throws Retry when something is left to do */
  async write({ declared, config }: DesiredResources, { signal, term, thorough }: Pass): Promise<void> {
    const { inventory } = this.#parts;
    if (thorough) this.#right.clear();
    const { objects: known } = await inventory.read(term);
    const { resources, unknown } = this.#read(declared, config);
    const wanted = new Map(resources.map((resource) => [resourceKey(resource.place), resource]));
    const all = new Map<string, AppliedResource>();
    for (const place of [...known, ...resources.map(({ place }) => place)])
      all.set(resourceKey(place), place);
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);

    let failed = unknown;
    for (const resource of wanted.values()) {
      if (!(await this.#attempt(resource.place, config, () => this.#apply(resource, config, signal))))
        failed++;
    }
    for (const place of known) {
      const key = resourceKey(place);
      // Where a declaration cannot be read, what it stands for may be any of these.
      if (wanted.has(key) || unknown > 0) continue;
      this.#right.delete(key);
      if (await this.#attempt(place, config, () => this.#prune(place, config, signal))) all.delete(key);
      else failed++;
    }
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);
    if (failed > 0) throw new Retry(`${failed} of the declared resources are not as they should be`);
  }

  #read(
    declared: readonly JsonObject[],
    config: ConfigVersion,
  ): { readonly resources: readonly DeclaredResource[]; readonly unknown: number } {
    const resources: DeclaredResource[] = [];
    let unknown = 0;
    for (const [index, object] of declared.entries()) {
      try {
        resources.push(declaredResource(object, config, this.#parts.kube.discovery));
        this.#complaints.settled(`declared resource ${index + 1}`);
      } catch (error) {
        unknown++;
        this.#complain(`declared resource ${index + 1}`, config, error);
      }
    }
    return { resources, unknown };
  }

  async #attempt(place: AppliedResource, config: ConfigVersion, work: () => Promise<void>): Promise<boolean> {
    const name = resourceKey(place);
    try {
      await work();
      this.#complaints.settled(name);
      return true;
    } catch (error) {
      if (error instanceof Cancelled || asksToWait(error)) throw error;
      this.#complain(name, config, error);
      return false;
    }
  }

  #complain(name: string, config: ConfigVersion, error: unknown): void {
    const isNew = this.#complaints.complain(name, error, 'a declared resource could not be written');
    if (!isNew || isPassing(error)) return;
    const words = error instanceof Error ? error.message : String(error);
    this.#parts.record({
      regarding: configRef(config),
      type: 'Warning',
      reason: error instanceof Foreign ? 'ResourceConflict' : 'ResourceNotWritten',
      action: 'Apply',
      note: `${name}: ${words}`,
    });
  }

  async #apply(
    { place, fields }: DeclaredResource,
    config: ConfigVersion,
    signal: AbortSignal,
  ): Promise<void> {
    const { api } = this.#parts.kube;
    const key = resourceKey(place);
    const text = JSON.stringify([config.uid, fields]);
    if (this.#right.get(key) === text) return;
    const live = await getObject(api, keyOf(place), { signal });
    if (live !== undefined && !isOurs(live, config)) {
      throw new Foreign(
        `there is one that is not ours: it lacks the label ${MANAGED_BY}=${installationLabel(config)}`,
      );
    }
    // Another one of the same name that comes in between is not ours.
    const { uid } = live?.metadata ?? {};
    const own =
      uid === undefined ? fields : { ...fields, metadata: { ...(fields['metadata'] as object), uid } };
    try {
      await applyObject(api, keyOf(place), own, { fieldManager: FIELD_MANAGER, signal });
    } catch (error) {
      if (!isApiError(error, 409)) throw error;
      throw new Foreign(`others have set fields of it: ${error.message}`, { cause: error });
    }
    this.#right.set(key, text);
  }

  async #prune(place: AppliedResource, config: ConfigVersion, signal: AbortSignal): Promise<void> {
    const { api } = this.#parts.kube;
    const live = await getObject(api, keyOf(place), { signal });
    if (live === undefined || !isOurs(live, config)) return;
    const { uid, resourceVersion } = live.metadata;
    const is = {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    await deleteObject(api, keyOf(place), is, { signal });
    this.#parts.log.info({ object: resourceKey(place) }, 'deleted a resource that is declared no more');
  }
}

function isOurs(live: KubeObject, config: ConfigVersion): boolean {
  return live.metadata.labels?.[MANAGED_BY] === installationLabel(config);
}
