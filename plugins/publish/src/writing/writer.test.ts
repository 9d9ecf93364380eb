import { setImmediate as turn } from 'node:timers/promises';
import { Retry, type Term } from '@haptic/core/contract';
import { fakeClock, memoryLog } from '@haptic/core/testing';
import { ApiError } from '@haptic/kube';
import { expect, onTestFinished, test } from 'vitest';
import { Later } from './later.ts';
import { Writer, type Pass } from './writer.ts';

function start({ ofTerm = true, pace = 0 } = {}) {
  const clock = fakeClock();
  const log = memoryLog();
  const stop = new AbortController();
  let term = new AbortController();
  let leader = false;
  const written: string[] = [];
  const passes: Pass[] = [];
  let work: (value: string, pass: Pass) => Promise<void> = () => Promise.resolve();
  const writer = new Writer<string>({
    what: 'it',
    term: (): Term => ({ leader, epoch: 1, signal: term.signal }),
    clock,
    log,
    ofTerm,
    pace: () => pace,
    async write(value, pass) {
      passes.push(pass);
      await work(value, pass);
      written.push(value);
    },
  });
  const running = writer.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return {
    writer,
    clock,
    log,
    written,
    passes,
    work: (next: typeof work) => (work = next),
    begin: async (): Promise<void> => {
      term = new AbortController();
      leader = true;
      writer.termChanged();
      await settle();
    },
    end: async (): Promise<void> => {
      leader = false;
      term.abort();
      writer.termChanged();
      await settle();
    },
  };
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await turn();
}

test('the newest is written, in a term', async () => {
  const { writer, written, begin, end } = start({ ofTerm: false });
  writer.want('a');
  await settle();
  expect(written).toEqual([]);
  await begin();
  expect(written).toEqual(['a']);
  writer.want('b');
  writer.want('c');
  await settle();
  await end();
  writer.want('d');
  await settle();
  expect(written).toEqual(['a', 'c']);
});

test('what is of a term is nobody’s when it ends', async () => {
  const { writer, written, begin, end } = start();
  await begin();
  writer.want('a');
  await settle();
  await end();
  await begin();
  expect(written).toEqual(['a']);
  writer.want('b');
  await settle();
  expect(written).toEqual(['a', 'b']);
});

test('a pass ends with its term, and what was missed is made up for in the next', async () => {
  const { writer, written, passes, work, log, begin, end } = start({ ofTerm: false });
  await begin();
  work(async (_value, { signal }) => {
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('called off')));
    });
  });
  writer.want('a');
  await settle();
  await end();
  work(() => Promise.resolve());
  await begin();
  expect(written).toEqual(['a']);
  expect(passes.map(({ thorough }) => thorough)).toEqual([true, true]);
  expect(log.records).toEqual([]);
});

test('what fails is tried again later and later, said once, and overtaken by what is newer', async () => {
  const { writer, written, work, clock, log, begin } = start();
  await begin();
  work(() => Promise.reject(new Retry('no answer')));
  writer.want('a');
  for (let tries = 0; tries < 5; tries++) await clock.advance(60_000);
  expect(log.records.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'could not be published, it is tried again'],
  ]);
  work(() => Promise.resolve());
  writer.want('b');
  await clock.advance(60_000);
  expect(written).toEqual(['b']);
});

test('tells of the right that is missing until it is there, or somebody else leads', async () => {
  const { writer, work, clock, begin, end } = start();
  await begin();
  const forbidden = new ApiError(403, 'Forbidden', 'cannot patch');
  for (const error of [forbidden, new Later('x is not written yet', { cause: forbidden })]) {
    work(() => Promise.reject(error));
    writer.want('a');
    await clock.advance(60_000);
    expect(writer.refusal).toBe('cannot patch');
    work(() => Promise.resolve());
    await clock.advance(60_000);
    expect(writer.refusal).toBeUndefined();
  }
  work(() => Promise.reject(forbidden));
  writer.want('a');
  await clock.advance(60_000);
  await end();
  expect(writer.refusal).toBeUndefined();
});

test('a server that asks to wait is left alone, whoever passes its words on', async () => {
  const { writer, passes, clock, work, begin } = start();
  await begin();
  const busy = new ApiError(429, 'TooManyRequests', 'busy', { retryAfter: 20_000 });
  work(() => Promise.reject(new Retry('the state cannot be reached', { cause: busy })));
  writer.want('a');
  await clock.advance(19_999);
  expect(passes).toHaveLength(1);
  await clock.advance(501);
  await settle();
  expect(passes).toHaveLength(2);
});

test('passes keep their distance, and look at everything from time to time', async () => {
  const { writer, written, passes, clock, begin } = start({ pace: 5_000 });
  await begin();
  for (const value of ['a', 'b', 'c']) {
    writer.want(value);
    await settle();
  }
  expect(written).toEqual(['a']);
  await clock.advance(5_000);
  expect(written).toEqual(['a', 'c']);
  await clock.advance(5_000);
  await clock.advance(110_000);
  expect(written).toEqual(['a', 'c', 'c']);
  await clock.advance(5_000);
  await clock.advance(595_000);
  expect(written).toEqual(['a', 'c', 'c', 'c']);
  expect(passes.map(({ thorough }) => thorough)).toEqual([true, false, true, true]);
});

test('who begins to lead looks at everything again when nothing of a former leader can come any more', async () => {
  const { writer, passes, clock, begin, end } = start();
  await clock.advance(500_000);
  for (let terms = 0; terms < 2; terms += 1) {
    await begin();
    writer.want('a');
    await settle();
    await clock.advance(119_000);
    writer.want('b');
    await settle();
    await clock.advance(1_000);
    await settle();
    await end();
  }
  const ofTerm = [
    { thorough: true, mayBeLate: true },
    { thorough: false, mayBeLate: true },
    { thorough: true, mayBeLate: false },
  ];
  expect(passes.map(({ thorough, mayBeLate }) => ({ thorough, mayBeLate }))).toEqual([...ofTerm, ...ofTerm]);
});

test.each([
  [new Retry('no answer'), true],
  [new Later('there is more to do'), false],
  [new Later('there is more to do', { unanswered: true }), true],
  [new ApiError(409, 'Conflict', 'changed'), false],
  [new ApiError(504, 'Timeout', 'it took too long'), true],
])('%s: what was sent may come late: %s', async (failure, mayBeLate) => {
  const { writer, passes, clock, work, begin } = start();
  await begin();
  await clock.advance(200_000);
  work(() => Promise.reject(failure));
  writer.want('a');
  await settle();
  work(() => Promise.resolve());
  await clock.advance(1_000);
  await settle();
  expect(passes.map((pass) => pass.mayBeLate)).toEqual([false, mayBeLate]);
  await clock.advance(118_999);
  expect(passes).toHaveLength(2);
  await clock.advance(1_001);
  await settle();
  expect(passes.slice(2).map((pass) => [pass.thorough, pass.mayBeLate])).toEqual(
    mayBeLate ? [[true, false]] : [],
  );
});

test('everything is looked at in its time, also where there is always something new', async () => {
  const { writer, passes, clock, begin } = start({ pace: 1_000 });
  await begin();
  for (let second = 0; second < 800; second += 1) {
    writer.want(`${second}`);
    await clock.advance(1_000);
  }
  expect(passes.filter(({ thorough }) => thorough)).toHaveLength(3);
});

test('what a pass could not settle is looked at again, and everything in its time all the same', async () => {
  const { writer, clock, passes, work, begin } = start();
  work((_, { lookAgainAt }) => {
    lookAgainAt(clock.now() + 45_000);
    lookAgainAt(clock.now() + 30_000);
    return Promise.resolve();
  });
  await begin();
  writer.want('a');
  await settle();
  await clock.advance(29_000);
  expect(passes.map(({ thorough }) => thorough)).toEqual([true]);
  await clock.advance(1_000);
  await settle();
  expect(passes.map(({ thorough }) => thorough)).toEqual([true, false]);
  for (let second = 30; second < 725; second += 1) await clock.advance(1_000);
  await settle();
  expect(passes.filter(({ thorough }) => thorough)).toHaveLength(3);
});
