import { describe, expect, it } from 'vitest';
import { Cancelled, Refused, Retry, type Contents, type Rendered } from '../contract/index.ts';
import type { Evaluation } from '../pipeline/index.ts';
import { RenderError } from '../templates/errors.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { memoryContents } from '../testing/memory-contents.ts';
import { Promotion, type Evaluate } from './promotion.ts';

const request = (key: string) => ({ key, options: {}, place: `main:1:1` });
const rendered = (...keys: readonly string[]) => ({ requests: keys.map(request) }) as unknown as Rendered;

/** A pipeline whose templates read these keys, and that refuses contents that begin with "bad". */
function pipeline(...keys: readonly string[]) {
  const seen: Contents[] = [];
  let broken: Error | undefined;
  const evaluate: Evaluate = async (contents) => {
    seen.push(contents);
    await Promise.resolve();
    if (broken !== undefined) throw broken;
    const bad = keys.find((key) => contents.get(key)?.startsWith('bad') === true);
    const verdict: Evaluation['verdict'] =
      bad === undefined
        ? { kind: 'passed', findings: [] }
        : {
            kind: 'refused',
            findings: [{ judge: 'j', phase: 'haproxy', severity: 'error', message: `${bad} is bad` }],
          };
    return { rendered: rendered(...keys), verdict, haproxy: verdict, durations: { renderMs: 1, judgeMs: 1 } };
  };
  return { evaluate, seen, breakWith: (error: Error | undefined) => (broken = error) };
}

function stage(...keys: readonly string[]) {
  const source = memoryContents();
  const promotion = new Promotion(source, clock);
  promotion.asks('serving', rendered(...keys));
  return { source, promotion, ...pipeline(...keys) };
}

const entries = (contents: Contents): Record<string, string> => Object.fromEntries(contents);
const never = new AbortController().signal;
const clock = fakeClock();

describe('promotion', () => {
  it('tells of what is pending for a configuration that waits when the one that serves asks for it, too', () => {
    const { source, promotion } = stage();
    promotion.asks('candidate', rendered('a'));
    source.bring('a', 'one');
    let told = 0;
    const stop = promotion.onPending(() => told++);
    promotion.asks('serving', rendered('a'));
    expect(told).toBe(1);
    promotion.asks('serving', rendered('a'));
    expect(told).toBe(1);
    stop();
    promotion.asks('serving', rendered());
    promotion.asks('serving', rendered('a'));
    expect(told).toBe(1);
  });

  it('of a first render that is called off asks for nothing any more', async () => {
    const source = memoryContents();
    const promotion = new Promotion(source, clock);
    const off = new AbortController();
    const first = promotion.first(pipeline('a').evaluate, off.signal);
    off.abort();
    await expect(first).rejects.toThrow(Cancelled);
    expect(source.wanted).toEqual([]);
  });

  it('asks nobody while nothing is pending', async () => {
    const { promotion, evaluate, seen } = stage('a');
    expect(await promotion.promote(evaluate)).toEqual({ kind: 'nothing' });
    expect(await new Promotion(undefined, clock).promote(evaluate)).toEqual({ kind: 'nothing' });
    expect(seen).toEqual([]);
  });

  it('accepts what passes, and gives the render that did', async () => {
    const { source, promotion, evaluate } = stage('a', 'b');
    source.bring('a', 'one');
    source.bring('b', 'two');
    const promoted = await promotion.promote(evaluate);
    expect(promoted).toMatchObject({
      kind: 'accepted',
      contents: new Map([
        ['a', 'one'],
        ['b', 'two'],
      ]),
    });
    expect(entries(promotion.contents)).toEqual({ a: 'one', b: 'two' });
    expect(source.pending().size).toBe(0);
  });

  it('keeps the accepted content when the next one is refused, and does not try that again', async () => {
    const { source, promotion, evaluate, seen } = stage('a');
    source.bring('a', 'one');
    await promotion.promote(evaluate);
    source.bring('a', 'bad');
    expect(await promotion.promote(evaluate)).toEqual({ kind: 'nothing' });
    expect(entries(promotion.contents)).toEqual({ a: 'one' });
    expect(source.refused).toEqual(['a=bad']);
    const tries = seen.length;
    await promotion.promote(evaluate);
    expect(seen).toHaveLength(tries);
    source.bring('a', 'mended');
    expect((await promotion.promote(evaluate)).kind).toBe('accepted');
  });

  it('lets one bad content hold back no other', async () => {
    const { source, promotion, evaluate } = stage('a', 'b', 'c');
    source.bring('a', 'one');
    source.bring('b', 'bad');
    source.bring('c', 'three');
    expect((await promotion.promote(evaluate)).kind).toBe('accepted');
    expect(entries(promotion.contents)).toEqual({ a: 'one', c: 'three' });
    expect(source.refused).toEqual(['b=bad']);
  });

  it.each([
    ['an interrupted judge', new Retry('no verdict')],
    ['a render that is refused without it as well', new Refused('an object is bad')],
  ])('blames no content for %s', async (_name, error) => {
    const { source, promotion, evaluate, breakWith } = stage('a');
    source.bring('a', 'one');
    breakWith(error);
    expect(await promotion.promote(evaluate)).toEqual({ kind: 'undecided', reason: error });
    expect(source.refused).toEqual([]);
    expect(source.pending().size).toBe(1);
    breakWith(undefined);
    expect((await promotion.promote(evaluate)).kind).toBe('accepted');
  });

  it('decides nothing when it is called off', async () => {
    const { source, promotion, evaluate, breakWith } = stage('a');
    source.bring('a', 'one');
    breakWith(new Cancelled());
    await expect(promotion.promote(evaluate)).rejects.toThrow(Cancelled);
    expect(source.pending().size).toBe(1);
    expect(source.refused).toEqual([]);
  });

  it('has the serving configuration judge only what it uses', async () => {
    const { source, promotion, evaluate, seen } = stage('a');
    promotion.asks('candidate', rendered('b'));
    source.bring('b', 'two');
    expect(await promotion.promote(evaluate)).toEqual({ kind: 'nothing' });
    expect(seen).toEqual([]);
    expect(source.wanted).toEqual(['b', 'a']);
  });
});

describe('what renders ask for', () => {
  it('is wanted until a whole render asks no more', () => {
    const { source, promotion } = stage('a');
    promotion.asksAsWell(
      'serving',
      new RenderError({ where: '', message: '' }, [], { requests: [request('b')] }),
    );
    expect(source.wanted).toEqual(['a', 'b']);
    promotion.asksAsWell('serving', new Refused('no render'));
    expect(source.wanted).toEqual(['a', 'b']);
    promotion.asks('serving', rendered('b'));
    expect(source.wanted).toEqual(['b']);
    promotion.dropCandidate();
    promotion.asks('serving', {});
    expect(source.wanted).toEqual([]);
  });

  it('is unproven until a synchronous pass has used it', async () => {
    const { source, promotion, evaluate } = stage('a');
    source.accept(new Map([['a', 'kept from the last run']]));
    expect(promotion.isUnproven(rendered('a'), promotion.contents)).toBe(true);
    expect(promotion.isUnproven(rendered(), promotion.contents)).toBe(false);
    promotion.passed(rendered('a'), promotion.contents);
    expect(promotion.isUnproven(rendered('a'), promotion.contents)).toBe(false);
    source.bring('a', 'new');
    await promotion.promote(evaluate);
    expect(promotion.isUnproven(rendered('a'), promotion.contents)).toBe(false);
  });
});

describe('the first render of a configuration', () => {
  it('waits for an attempt to get what it asks for, and accepts it with the configuration', async () => {
    const source = memoryContents();
    const promotion = new Promotion(source, clock);
    const { evaluate, seen } = pipeline('a');
    source.attempt = async (keys) => keys.forEach((key) => source.bring(key, 'one'));
    const passed = await promotion.first(evaluate, never);
    expect(seen.map(entries)).toEqual([{}, { a: 'one' }]);
    expect(entries(promotion.contents)).toEqual({});
    promotion.adopt(passed.evaluation, passed.contents);
    expect(entries(promotion.contents)).toEqual({ a: 'one' });
    expect(promotion.isUnproven(rendered('a'), promotion.contents)).toBe(false);
  });

  it('goes on without what can not be had', async () => {
    const { evaluate, seen } = pipeline('a');
    const passed = await new Promotion(memoryContents(), clock).first(evaluate, never);
    expect(passed.contents.size).toBe(0);
    expect(seen).toHaveLength(1);
  });

  it('finds out in rounds what a template that fails asks for', async () => {
    const source = memoryContents();
    const promotion = new Promotion(source, clock);
    source.attempt = async (keys) => keys.forEach((key) => source.bring(key, key));
    const critical: Evaluate = async (contents) => {
      await Promise.resolve();
      const asked: string[] = [];
      for (const key of ['a', 'b', 'c']) {
        asked.push(key);
        if (!contents.has(key)) {
          throw new RenderError({ where: '', message: key }, [], { requests: asked.map(request) });
        }
      }
      return {
        rendered: rendered(...asked),
        verdict: { kind: 'passed', findings: [] },
        haproxy: { kind: 'passed', findings: [] },
        durations: { renderMs: 1, judgeMs: 1 },
      };
    };
    expect(entries((await promotion.first(critical, never)).contents)).toEqual({ a: 'a', b: 'b', c: 'c' });
    source.attempt = async () => {};
    const other = new Promotion(memoryContents(), clock);
    await expect(other.first(critical, never)).rejects.toThrow(RenderError);
  });

  it('keeps a configuration that serves waiting for a moment only', async () => {
    const source = memoryContents();
    const promotion = new Promotion(source, clock);
    const serving = pipeline();
    const { evaluation, contents } = await promotion.first(serving.evaluate, never);
    promotion.adopt(evaluation, contents);
    source.attempt = () => new Promise(() => {});
    const passed = promotion.first(pipeline('a').evaluate, never);
    await clock.advance(2_000);
    expect((await passed).contents.size).toBe(0);
  });

  it('takes the accepted content, not a newer one that nobody has judged', async () => {
    const { source, promotion, evaluate, seen } = stage('a');
    source.accept(new Map([['a', 'good']]));
    source.bring('a', 'bad');
    await promotion.first(evaluate, never);
    expect(seen.map(entries)).toEqual([{ a: 'good' }]);
  });
});
