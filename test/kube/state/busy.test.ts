import { Retry, type Term } from '@haptic/core/contract';
import { fakeClock, memoryLog } from '@haptic/core/testing';
import { apiErrorOf } from '@haptic/kube';
import { expect, test } from 'vitest';
import { ConfigMapStore } from '../../../plugins/state-kube/src/config-map-store.ts';
import { TermStore } from '../../../plugins/state-kube/src/term-store.ts';
import { withOwnClusters } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';
import { until } from '../../haproxy/until.ts';
import { withTooManyRequests } from '../chaos/too-many-requests.ts';
import { KubeApi, loadKubeConfig } from '@haptic/kube';
import { accessRules } from '@haptic/state-kube';

const NAME = 'haptic-state';

withOwnClusters((start) => {
  test('a server with too many requests is left alone for as long as it asks', async () => {
    const { access } = await start({ controllers: false });
    const { name: namespace } = await access.namespace();
    const text = await access.user({ namespaces: { [namespace]: accessRules(NAME) } });
    const api = new KubeApi(loadKubeConfig({ text }));
    onCleanup(() => api.close());
    const store = new ConfigMapStore({ api, namespace, name: NAME });
    const clock = fakeClock();
    const log = memoryLog();
    let leader = false;
    const term = new AbortController();
    const documents = new TermStore({
      store,
      term: (): Term => ({ leader, epoch: 1, signal: term.signal }),
      clock,
      log,
    });
    await documents.write('quarantine', 'noted');
    const stop = new AbortController();
    let writing: Promise<void> | undefined;
    await withTooManyRequests(access, namespace, async () => {
      const error = await store.write('other', 'x').catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Retry);
      expect(apiErrorOf(error)).toMatchObject({ code: 429, retryAfter: 1_000 });
      leader = true;
      writing = documents.termChanged(stop.signal);
      await until(() => log.records.length === 1 && clock.sleepers > 0, { what: 'it has been tried once' });
    });
    await clock.advance(999);
    expect(await store.read('quarantine')).toBeUndefined();
    await clock.advance(1_001);
    await writing;
    expect(await store.read('quarantine')).toBe('noted');
  });
});
