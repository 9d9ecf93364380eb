import { describe, expect, it } from 'vitest';
import {
  crowd,
  judgedRender,
  memoryStateStore,
  quarantineRig,
  served,
  watchedIngress,
} from '../testing/quarantine-rig.ts';

const { signal } = new AbortController();

describe('a restart', () => {
  it('forgets no bad object, and serves its accepted revision from the first render on', async () => {
    const store = memoryStateStore();
    const before = quarantineRig(store);
    before.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await before.reconcile();
    before.put(watchedIngress('bad', { bad: 'bogus' }));
    await before.reconcile();
    await before.quarantine.close();

    const after = quarantineRig(store);
    await after.quarantine.restore(signal);
    after.put(...crowd(), watchedIngress('bad', { bad: 'bogus' }));
    expect(served(await after.reconcile())).toHaveLength(101);
    expect(after.attempts).toBe(1);
    expect(after.held()).toEqual(['bad accepted']);
    expect(
      after.quarantine.effective(after.subject()).watch('ingresses').get('shop', 'bad')?.['spec'],
    ).toEqual({
      version: 1,
    });
  });

  it('with a configuration that refuses what was accepted before starts nothing', async () => {
    const store = memoryStateStore();
    const before = quarantineRig(store);
    before.put(...crowd(), watchedIngress('odd', { bad: 'later' }));
    before.judge = async () => ({
      value: [],
      rendered: judgedRender,
      verdict: { kind: 'passed', findings: [] },
    });
    await before.reconcile();
    await before.quarantine.close();

    const after = quarantineRig(store);
    await after.quarantine.restore(signal);
    after.digest = 'second';
    after.put(...crowd(), watchedIngress('odd', { bad: 'later' }));
    expect(await after.reconcile()).toMatchObject({ kind: 'refused', culprit: { kind: 'configuration' } });
    // What nobody accepted before may be held.
    after.put(watchedIngress('odd', { bad: 'new' }));
    expect(served(await after.reconcile())).toHaveLength(100);
  });

  it('after a broken document judges everything anew, and says so', async () => {
    const store = memoryStateStore();
    store.documents.set('quarantine', '{"version":1,"entries":[{}],"offences":[]}');
    store.documents.set('accepted', '\0garbage');
    const rig = quarantineRig(store);
    await rig.quarantine.restore(signal);
    rig.put(...crowd(), watchedIngress('bad', { bad: 'bogus' }));
    expect(served(await rig.reconcile())).toHaveLength(100);
    expect(rig.log.records.filter(({ level }) => level === 'error')).toHaveLength(2);
    await rig.quarantine.close();
    expect(store.documents.get('quarantine-broken')).toContain('{}');
  });

  it('is not needed to know what a predecessor held, when another process begins to lead', async () => {
    const store = memoryStateStore();
    const [leader, follower] = [quarantineRig(store), quarantineRig(store)];
    for (const rig of [leader, follower]) {
      await rig.quarantine.restore(signal);
      rig.put(...crowd(), watchedIngress('bad', { version: 1 }));
      await rig.reconcile();
    }
    // HAProxy of a pod refused it, so the leader alone knows.
    leader.put(watchedIngress('bad', { bad: 'bogus' }));
    await leader.reconcile();
    await leader.quarantine.close();
    follower.put(watchedIngress('bad', { bad: 'bogus' }));
    expect(follower.held()).toEqual([]);
    await follower.quarantine.takeUp(signal);
    expect(follower.held()).toEqual(['bad accepted']);
    const attempts = follower.attempts;
    expect(served(await follower.reconcile())).toHaveLength(101);
    expect(follower.attempts).toBe(attempts + 1);

    follower.put(watchedIngress('worse', { bad: 'bogus' }));
    await follower.reconcile();
    await follower.quarantine.takeUp(signal);
    expect(follower.held()).toEqual(
      expect.arrayContaining(['bad accepted', expect.stringContaining('worse')]),
    );
  });

  it('of whoever led serves what that one had accepted last, not what was known here long ago', async () => {
    const store = memoryStateStore();
    const leader = quarantineRig(store);
    await leader.quarantine.restore(signal);
    leader.put(...crowd(), watchedIngress('bad', { version: 1 }));
    await leader.reconcile();
    leader.put(watchedIngress('bad', { bad: 'bogus' }));
    await leader.reconcile();
    await leader.clock.advance(1_000);

    const follower = quarantineRig(store);
    await follower.quarantine.restore(signal);
    expect(follower.held()).toEqual(['bad accepted']);

    for (const spec of [{ version: 2 }, { bad: 'worse' }]) {
      leader.put(watchedIngress('bad', spec));
      await leader.reconcile();
    }
    await leader.quarantine.close();
    follower.put(...crowd(), watchedIngress('bad', { bad: 'worse' }));
    await follower.quarantine.takeUp(signal);
    const view = follower.quarantine.effective(follower.subject());
    expect(view.watch('ingresses').get('shop', 'bad')?.['spec']).toEqual({ version: 2 });
  });
});
