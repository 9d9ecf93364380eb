import { Cancelled, Refused, Retry, type Term } from '@haptic/core/contract';
import { fakeClock, memoryLog } from '@haptic/core/testing';
import { expect, test } from 'vitest';
import { TermStore } from './term-store.ts';

/** A store whose documents are those of a cluster, and a process that leads or does not. */
function startProcess(cluster: Map<string, string>) {
  let term = new AbortController();
  let leader = false;
  const written: string[] = [];
  const failures: Error[] = [];
  let begun = 0;
  const store = {
    begin: (): void => void (begun += 1),
    read: async (name: string) => cluster.get(name),
    async replace(
      name: string,
      change: (current: string | undefined) => string | undefined,
      signal?: AbortSignal,
    ): Promise<void> {
      if (signal?.aborted === true) throw new Cancelled();
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const document = change(cluster.get(name));
      if (document === undefined) return;
      cluster.set(name, document);
      written.push(document);
    },
  };
  const lead = (): void => {
    term = new AbortController();
    leader = true;
  };
  const clock = fakeClock();
  const documents = new TermStore({
    store,
    term: (): Term => ({ leader, epoch: 1, signal: term.signal }),
    clock,
    log: memoryLog(),
  });
  return {
    documents,
    clock,
    written,
    failures,
    begun: () => begun,
    begin: (): Promise<void> => {
      lead();
      return documents.termChanged(new AbortController().signal);
    },
    lead,
    end(): void {
      leader = false;
      term.abort();
    },
  };
}

test('what does not lead writes nothing, and all of it when it does', async () => {
  const cluster = new Map<string, string>();
  const one = startProcess(cluster);
  await one.documents.write('quarantine', 'first');
  await one.documents.write('quarantine', 'second');
  expect(cluster.size).toBe(0);
  expect(await one.documents.read('quarantine')).toBe('second');
  await one.begin();
  expect(one.written).toEqual(['second']);
  await one.documents.write('quarantine', 'third');
  expect(one.written).toEqual(['second', 'third']);
});

test('who has led and written meanwhile knows better', async () => {
  const cluster = new Map([['quarantine', 'old']]);
  const [leader, follower] = [startProcess(cluster), startProcess(cluster)];
  for (const { documents } of [leader, follower]) await documents.read('quarantine');
  await follower.documents.write('quarantine', 'of the follower');
  await leader.begin();
  await leader.documents.write('quarantine', 'of the leader');
  leader.end();
  await follower.begin();
  expect(cluster.get('quarantine')).toBe('of the leader');
  await follower.documents.write('quarantine', 'new');
  expect(cluster.get('quarantine')).toBe('new');
});

test('what others have written meanwhile is what is read when a term begins, and else the own last word', async () => {
  const cluster = new Map([['quarantine', 'old']]);
  const [leader, follower] = [startProcess(cluster), startProcess(cluster)];
  for (const { documents } of [leader, follower]) await documents.read('quarantine');
  await follower.documents.write('quarantine', 'of the follower');
  await leader.begin();
  await leader.documents.write('quarantine', 'of the leader');
  leader.end();
  expect(await follower.documents.read('quarantine')).toBe('of the follower');
  follower.lead();
  expect(await follower.documents.read('quarantine')).toBe('of the leader');
  await follower.documents.termChanged(new AbortController().signal);
  expect(cluster.get('quarantine')).toBe('of the leader');
  follower.end();
  await follower.documents.write('quarantine', 'of the follower again');
  follower.lead();
  expect(await follower.documents.read('quarantine')).toBe('of the follower again');
});

test('what was of a term that is over is never written later', async () => {
  const cluster = new Map<string, string>();
  const one = startProcess(cluster);
  const over = new AbortController();
  await one.documents.write('published', 'of the term', over.signal);
  over.abort();
  await one.begin();
  expect(cluster.size).toBe(0);
  await expect(one.documents.write('published', 'again', over.signal)).rejects.toThrow(Cancelled);
});

test('a server in trouble is asked again for as long as the term lasts', async () => {
  const one = startProcess(new Map());
  await one.documents.write('quarantine', 'kept');
  one.failures.push(new Retry('no answer'), new Retry('no answer'));
  const begun = one.begin();
  for (let tries = 0; one.written.length === 0 && tries < 20; tries++) await one.clock.advance(5_000);
  await begun;
  expect(one.written).toEqual(['kept']);
  one.failures.push(new Retry('no answer'));
  await expect(one.documents.write('quarantine', 'now')).rejects.toThrow(Retry);
});

test('what was known before a term began is looked at again', async () => {
  const one = startProcess(new Map());
  await one.begin();
  expect(one.begun()).toBe(1);
  one.end();
  await one.documents.termChanged(new AbortController().signal);
  expect(one.begun()).toBe(1);
  await one.begin();
  expect(one.begun()).toBe(2);
});

test('nothing is written in a term on what was known before, though nobody has told of the term yet', async () => {
  const one = startProcess(new Map());
  one.lead();
  await one.documents.write('quarantine', 'first');
  await one.documents.write('quarantine', 'second');
  expect(one.begun()).toBe(1);
});

test('a document that is refused keeps no other from being written', async () => {
  const cluster = new Map<string, string>();
  const one = startProcess(cluster);
  await one.documents.write('large', 'too large');
  await one.documents.write('quarantine', 'small');
  one.failures.push(new Refused('too large'));
  const begun = one.begin();
  for (let tries = 0; one.written.length === 0 && tries < 20; tries++) await one.clock.advance(0);
  expect(one.written).toEqual(['small']);
  one.end();
  await begun;
});
