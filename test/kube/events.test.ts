import { systemClock } from '@haptic/core/host';
import { memoryLog, memoryMeter } from '@haptic/core/testing';
import { createObject, EventRecorder, type Occurrence } from '@haptic/kube';
import { expect, onTestFinished, test } from 'vitest';
import { forEachCluster, type ClusterAccess } from '../cluster/index.ts';
import { until } from '../haproxy/until.ts';

const configMaps = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };

interface EventList {
  readonly items: readonly { readonly note: string; readonly series?: { readonly count: number } }[];
}

async function eventsOf(cluster: ClusterAccess, namespace: string): Promise<EventList['items']> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  return ((await cluster.api.json({ path })) as EventList).items;
}

forEachCluster((cluster) => {
  async function recorder(): Promise<{
    readonly namespace: string;
    readonly occur: (note: string) => boolean;
  }> {
    const { api } = cluster();
    const namespace = await cluster().namespace();
    onTestFinished(() => namespace[Symbol.asyncDispose]());
    const metadata = { namespace: namespace.name, name: 'thing' };
    const { uid } = (await createObject(api, configMaps, { metadata })).metadata;
    const events = new EventRecorder({
      api,
      reporter: { controller: 'haproxy-haptic.org/controller', instance: 'test-1' },
      fieldManager: 'haptic',
      clock: systemClock,
      log: memoryLog(),
      meter: memoryMeter(systemClock),
      rate: { burst: 3, every: 60_000 },
    });
    const stop = new AbortController();
    const running = events.run(stop.signal);
    onTestFinished(async () => {
      stop.abort();
      await running;
    });
    const regarding = {
      ...metadata,
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...(uid === undefined ? {} : { uid }),
    };
    const common = { regarding, type: 'Warning', reason: 'ConfigRejected', action: 'Validate' } as const;
    return {
      namespace: namespace.name,
      occur: (note) => events.record({ ...common, note } satisfies Occurrence),
    };
  }

  test('an Event is written, and its repetitions are counted', async () => {
    const { namespace, occur } = await recorder();
    for (let repetition = 0; repetition < 5; repetition++) occur('it is wrong');
    const [event] = await until(async () => {
      const found = await eventsOf(cluster(), namespace);
      return found.length > 0 && found;
    });
    expect(event).toMatchObject({
      type: 'Warning',
      reason: 'ConfigRejected',
      action: 'Validate',
      note: 'it is wrong',
      reportingController: 'haproxy-haptic.org/controller',
      regarding: { kind: 'ConfigMap', name: 'thing', namespace },
      series: { count: 5 },
    });
  });

  test('too many different ones about one object are not taken', async () => {
    const { namespace, occur } = await recorder();
    const numbers = Array.from({ length: 10 }, (_, number) => number);
    const taken = numbers.map((number) => occur(`message ${number} ${'é'.repeat(2_000)}`));
    expect(taken).toEqual(numbers.map((number) => number < 3));
    await until(async () => (await eventsOf(cluster(), namespace)).length === 3);
  });
});
