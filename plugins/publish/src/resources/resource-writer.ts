import type { ConfigVersion, JsonObject, Log } from '@haptic/core/contract';
import type { KubeConnection, Occurrence } from '@haptic/kube';
import { configRef } from '../names.ts';
import { Attempts } from '../writing/attempts.ts';
import { isPassing } from '../writing/complaints.ts';
import { Gone } from '../writing/gone.ts';
import type { Inventory } from '../writing/inventory.ts';
import { canOwn } from '../writing/owner.ts';
import type { Pass } from '../writing/writer.ts';
import { type AppliedResource, type appliedResources, resourceKey } from './applied-resources.ts';
import { declaredResource, type DeclaredResource } from './declared-resources.ts';
import { applyOwn, deleteOwn, Foreign } from './own-resource.ts';

export interface DesiredResources {
  /** Of the released plan. */
  readonly declared: readonly JsonObject[];
  readonly config: ConfigVersion;
}

export interface ResourceWriterParts {
  readonly kube: Pick<KubeConnection, 'api' | 'discovery'>;
  readonly inventory: Inventory<typeof appliedResources>;
  /** Called with all that is wrong now and does not pass by itself. */
  readonly problems: (all: readonly Occurrence[]) => void;
  readonly log: Log;
}

/**
 * Applies what a release declares, and deletes what it declares no more. What there may be of ours is kept before it is applied, so
 * nothing is ever left behind; what does not bear our label is never touched. What goes with the config waits until there is one.
 */
export class ResourceWriter {
  readonly #parts: ResourceWriterParts;
  readonly #attempts: Attempts;
  /** What each was applied with, and right. */
  readonly #right = new Map<string, string>();
  readonly #gone = new Gone();
  /** Of this pass, and of the last whole one where it cannot be seen whether they still hold. */
  #problems = new Map<string, Occurrence>();
  #problemsBefore: ReadonlyMap<string, Occurrence> = new Map();
  #config: ConfigVersion | undefined;

  constructor(parts: ResourceWriterParts) {
    this.#parts = parts;
    this.#attempts = new Attempts({
      log: parts.log,
      sentence: 'a declared resource could not be written',
      failed: (name, error) => this.#note(name, error),
    });
  }

  /** @throws Later when something is left to do */
  async write({ declared, config }: DesiredResources, pass: Pass): Promise<void> {
    const { inventory } = this.#parts;
    const { signal, term, thorough } = pass;
    if (thorough) this.#right.clear();
    this.#config = config;
    this.#problems = new Map();
    const { objects: known } = await inventory.read(term);
    const { resources, unknown } = await this.#read(declared, config);
    const wanted = new Map(resources.map((resource) => [resourceKey(resource.place), resource]));
    const all = new Map<string, AppliedResource>();
    for (const place of [...known, ...resources.map(({ place }) => place)])
      all.set(resourceKey(place), place);
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);

    for (const [key, resource] of wanted) {
      await this.#attempts.make(key, () => this.#apply(key, resource, config, signal));
    }
    const lost = known
      .map((place) => [resourceKey(place), place] as const)
      .filter(([key]) => !wanted.has(key));
    // Where a declaration cannot be read, what it stands for may be any of these.
    const due = unknown > 0 ? [] : this.#gone.due(new Map(lost), pass);
    for (const [key, place] of due) {
      this.#right.delete(key);
      const isGone = await this.#attempts.make(key, () => this.#prune(place, config, signal));
      if (isGone && this.#gone.add(key, pass)) all.delete(key);
    }
    this.#parts.problems([...this.#problems.values()]);
    this.#problemsBefore = this.#problems;
    await inventory.write({ version: 1, objects: [...all.values()] }, signal);
    this.#attempts.end();
  }

  async #read(
    declared: readonly JsonObject[],
    config: ConfigVersion,
  ): Promise<{ readonly resources: readonly DeclaredResource[]; readonly unknown: number }> {
    const { discovery } = this.#parts.kube;
    const resources: DeclaredResource[] = [];
    for (const [index, object] of declared.entries()) {
      await this.#attempts.make(`declared resource ${index + 1}`, async () => {
        resources.push(declaredResource(object, config, discovery));
      });
    }
    return { resources, unknown: declared.length - resources.length };
  }

  async #apply(
    key: string,
    resource: DeclaredResource,
    config: ConfigVersion,
    signal: AbortSignal,
  ): Promise<void> {
    const text = JSON.stringify([config.uid, resource.fields]);
    if (this.#right.get(key) === text) return;
    const { api } = this.#parts.kube;
    if (resource.isOwned && !(await canOwn(api, config, signal))) return;
    await applyOwn(api, resource, config, signal);
    this.#right.set(key, text);
  }

  async #prune(place: AppliedResource, config: ConfigVersion, signal: AbortSignal): Promise<void> {
    const { kube, log } = this.#parts;
    const isDeleted = await deleteOwn(kube.api, place, config, signal);
    if (isDeleted) log.info({ object: resourceKey(place) }, 'deleted a resource that is declared no more');
  }

  #note(name: string, error: unknown): void {
    const before = this.#problemsBefore.get(name);
    if (!isPassing(error)) this.#problems.set(name, this.#problemOf(name, error));
    else if (before !== undefined) this.#problems.set(name, before);
  }

  #problemOf(name: string, error: unknown): Occurrence {
    const words = error instanceof Error ? error.message : String(error);
    return {
      regarding: configRef(this.#config!),
      type: 'Warning',
      reason: error instanceof Foreign ? 'ResourceConflict' : 'ResourceNotWritten',
      action: 'Apply',
      note: `${name}: ${words}`,
    };
  }
}
