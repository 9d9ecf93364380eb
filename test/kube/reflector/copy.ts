import type { KubeObject } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import {
  Reflector,
  type Changes,
  type KubeApi,
  type ReflectorEvent,
  type ReflectorTiming,
} from '@haptic/kube';
import { expect, onTestFinished } from 'vitest';
import { configMaps } from './writer.ts';

type Content = readonly [uid: string, value: string];

function contentOf(object: KubeObject): Content {
  return [object.metadata.uid ?? '', (object['data'] as { readonly value: string }).value];
}

/** What a reflector says there is, and how often it said something wrong. */
export class Copy {
  readonly objects = new Map<string, KubeObject>();
  readonly wrongs: string[] = [];
  /** Objects of all changes, the first list not counted. */
  changes = 0;
  replaced = 0;
  lists = 0;
  restarts = 0;

  replace(objects: readonly KubeObject[]): void {
    this.replaced += 1;
    this.objects.clear();
    for (const object of objects) this.objects.set(object.metadata.name, object);
  }

  apply({ upserts, deletes }: Changes): void {
    this.changes += upserts.length + deletes.length;
    for (const object of upserts) {
      const { name } = object.metadata;
      const before = this.objects.get(name);
      if (before !== undefined) this.#compare(name, contentOf(before), contentOf(object));
      this.objects.set(name, object);
    }
    for (const { name } of deletes) {
      if (!this.objects.delete(name)) this.wrongs.push(`${name} was deleted but had never come`);
    }
  }

  notServed(): void {
    this.wrongs.push('not served');
  }

  observe(event: ReflectorEvent): void {
    if (event.type === 'listed') this.lists += 1;
    else this.restarts += 1;
  }

  /** `name → uid/value`. */
  contents(): ReadonlyMap<string, string> {
    return new Map([...this.objects].map(([name, object]) => [name, contentOf(object).join('/')]));
  }

  #compare(name: string, [oldUid, old]: Content, [newUid, now]: Content): void {
    if (oldUid !== newUid) return;
    if (old === now) this.wrongs.push(`${name} came again as ${now}`);
    else if (Number(now) < Number(old)) this.wrongs.push(`${name} went back from ${old} to ${now}`);
  }
}

/** Runs a reflector until the test ends; its objects carry one ignored field. */
export async function reflect(
  api: KubeApi,
  namespace: string,
  timing: Partial<ReflectorTiming>,
): Promise<Copy> {
  const copy = new Copy();
  const reflector = new Reflector({
    api,
    resource: configMaps,
    namespace,
    fieldSelector: 'metadata.name!=kube-root-ca.crt',
    ignoreFields: ['data.noise'],
    handler: copy,
    observe: (event) => copy.observe(event),
    clock: systemClock,
    log: memoryLog(),
    timing: { backoff: { first: 50, most: 1_000 }, ...timing },
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  await reflector.synced;
  return copy;
}

/** `name → uid/value` of a fresh list. */
export async function freshList(api: KubeApi, namespace: string): Promise<ReadonlyMap<string, string>> {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const { items } = (await api.json({ path })) as { readonly items: readonly KubeObject[] };
  const ours = items.filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt');
  return new Map(ours.map((object) => [object.metadata.name, contentOf(object).join('/')]));
}

export function expectNothingWrong(copy: Copy, written: ReadonlySet<string>): void {
  expect(copy.wrongs).toEqual([]);
  const invented = [...copy.contents().values()].filter((content) => !written.has(content));
  expect(invented).toEqual([]);
}
