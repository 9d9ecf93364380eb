import { describe, expect, it } from 'vitest';
import { definePlugin, z, type FindingCollector, type JudgeKind, type Rendered } from '../contract/index.ts';
import { controllerRules, createHooks, Host } from '../host/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import { SECRET_WORDS } from '../contract/secret-parts.ts';
import { runJudges } from './judges.ts';

type Judge = (findings: FindingCollector, signal: AbortSignal) => void | Promise<void>;

const provenance = { snippet: 's', source: 'lib', line: 3, objects: [] };
const rendered = {
  plan: { files: [{ path: 'maps/auth.map', secret: true }], sections: [] },
  locate: (path: string, line: number) => (path === 'maps/a.map' && line === 2 ? provenance : undefined),
} as unknown as Rendered;
const candidate = { rendered, config: {} as never, view: {} as never, fleet: {} as never };

function judge(name: string, kind: JudgeKind, run: Judge) {
  return definePlugin({
    name,
    apiVersion: 1,
    options: z.strictObject({}),
    judge: kind,
    setup({ hooks }) {
      hooks.validate.tapPromise(
        name,
        async (_candidate, findings, { signal }) => await run(findings, signal),
      );
    },
  });
}

async function hostOf(...judges: ReturnType<typeof judge>[]) {
  const clock = fakeClock();
  const log = memoryLog();
  const { observers, deadlines } = controllerRules;
  const plugins = judges.map((plugin) => ({ plugin }));
  const host = await Host.start({ hooks: createHooks(), observers, deadlines, plugins, log, clock });
  return { host, clock };
}

function contextOf(signal = new AbortController().signal) {
  return { signal, caller: 'admission' } as const;
}

const finds =
  (severity: 'error' | 'warning', message: string = severity): Judge =>
  (findings) =>
    findings.add({ severity, message });
const fine: Judge = () => {};

describe('runJudges', () => {
  it('passes when every judge finished without an error, warnings included', async () => {
    const { host } = await hostOf(judge('a', 'haproxy', fine), judge('b', 'custom', finds('warning')));
    const verdict = await runJudges(host, ['haproxy', 'custom'], candidate, contextOf());
    expect(verdict).toEqual({
      kind: 'passed',
      findings: [{ judge: 'b', phase: 'custom', severity: 'warning', message: 'warning' }],
    });
  });

  it('asks every judge again on every call, also after one refused', async () => {
    const asked: string[] = [];
    const noting =
      (name: string, run: Judge): Judge =>
      (findings, signal) => {
        asked.push(name);
        return run(findings, signal);
      };
    const { host } = await hostOf(
      judge('a', 'haproxy', noting('a', finds('error'))),
      judge('b', 'custom', noting('b', finds('error', 'second'))),
    );
    for (let run = 0; run < 2; run++) {
      const verdict = await runJudges(host, ['haproxy', 'custom'], candidate, contextOf());
      expect(verdict.kind).toBe('refused');
      expect(verdict.findings.map(({ message }) => message)).toEqual(['error', 'second']);
    }
    expect(asked).toEqual(['a', 'b', 'a', 'b']);
  });

  it('does not pass without a haproxy judge, when its kind is asked for', async () => {
    const { host } = await hostOf(judge('b', 'custom', fine));
    const verdict = await runJudges(host, ['haproxy', 'custom'], candidate, contextOf());
    expect(verdict).toMatchObject({ kind: 'interrupted', reason: 'no judge of kind haproxy is installed' });
    expect((await runJudges(host, ['external', 'custom'], candidate, contextOf())).kind).toBe('passed');
  });

  it('takes a throw for an error finding and no verdict, and asks the others', async () => {
    let asked = false;
    const { host } = await hostOf(
      judge('a', 'custom', () => {
        throw new Error('boom');
      }),
      judge('b', 'custom', () => void (asked = true)),
    );
    const verdict = await runJudges(host, ['custom'], candidate, contextOf());
    expect(asked).toBe(true);
    expect(verdict).toEqual({
      kind: 'interrupted',
      reason: 'a: validate:custom failed: boom',
      findings: [{ judge: 'a', phase: 'custom', severity: 'error', message: 'validate:custom failed: boom' }],
    });
  });

  it('refuses when one judge threw and another, which finished, found an error', async () => {
    const { host } = await hostOf(
      judge('a', 'custom', () => Promise.reject(new Error('boom'))),
      judge('b', 'custom', finds('error')),
    );
    expect((await runJudges(host, ['custom'], candidate, contextOf())).kind).toBe('refused');
  });

  it('tells a judge whose time is up, goes on, and takes nothing from it afterwards', async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let told: AbortSignal | undefined;
    let late: Promise<void> | undefined;
    const { host, clock } = await hostOf(
      judge('slow', 'custom', (findings, signal) => {
        told = signal;
        late = release.then(() => findings.add({ severity: 'error', message: 'too late' }));
        return late;
      }),
      judge('b', 'custom', finds('warning')),
    );
    const answer = runJudges(host, ['custom'], candidate, contextOf());
    await clock.advance(10_000);
    const verdict = await answer;
    resolve();
    await late;
    expect(told?.aborted).toBe(true);
    expect(verdict).toMatchObject({
      kind: 'interrupted',
      reason: 'slow: validate:custom did not finish within 10 s',
    });
    expect(verdict.findings.map(({ judge, severity }) => [judge, severity])).toEqual([
      ['slow', 'error'],
      ['b', 'warning'],
    ]);
  });

  it('gives no verdict when it was called off, whatever was found', async () => {
    const { host } = await hostOf(judge('a', 'haproxy', finds('error')));
    expect(await runJudges(host, ['haproxy'], candidate, contextOf(AbortSignal.abort()))).toEqual({
      kind: 'interrupted',
      reason: 'cancelled',
      findings: [],
    });
    const abort = new AbortController();
    const { host: other } = await hostOf(
      judge('a', 'haproxy', (findings) => {
        findings.add({ severity: 'error', message: 'half of it' });
        abort.abort();
      }),
    );
    const verdict = await runJudges(other, ['haproxy'], candidate, contextOf(abort.signal));
    expect(verdict).toMatchObject({ kind: 'interrupted', reason: 'cancelled' });
  });

  it('waits for a judge that ignores the abort no longer than a grace', async () => {
    const abort = new AbortController();
    const { host, clock } = await hostOf(judge('deaf', 'custom', () => new Promise<void>(() => {})));
    const answer = runJudges(host, ['custom'], candidate, contextOf(abort.signal));
    abort.abort();
    await clock.advance(1_000);
    expect((await answer).kind).toBe('interrupted');
    expect(host.pending()).toMatchObject([{ plugin: 'deaf', hook: 'validate:custom' }]);
  });

  it.each([
    ['a severity that does not exist', { severity: 'Error', message: 'x' }],
    ['no message', { severity: 'error' }],
    ['a line that is none', { severity: 'warning', message: 'x', path: 'a', line: 0 }],
    ['nothing', undefined],
  ])('does not take %s for an answer, even from a judge that catches the complaint', async (_, garbled) => {
    const { host } = await hostOf(
      judge('a', 'custom', (findings) => {
        try {
          findings.add(garbled as never);
        } catch {
          // as a careless author would
        }
      }),
    );
    const verdict = await runJudges(host, ['custom'], candidate, contextOf());
    expect(verdict.kind).toBe('interrupted');
    expect(verdict.findings).toMatchObject([{ judge: 'a', severity: 'error' }]);
  });

  it('names the validator that a judge speaks for, and says where a line comes from', async () => {
    const { host } = await hostOf(
      judge('a', 'external', (findings) => {
        findings.add({ judge: 'waf', severity: 'error', message: 'x', path: 'maps/a.map', line: 2 });
        findings.add({ severity: 'error', message: 'y', path: 'maps/a.map', line: 3 });
      }),
    );
    const { findings } = await runJudges(host, ['external'], candidate, contextOf());
    expect(findings[0]).toMatchObject({ judge: 'waf', phase: 'external', provenance });
    expect(findings[1]).not.toHaveProperty('provenance');
  });

  it('keeps what is said about secret parts from everybody but who validates what is their own', async () => {
    const { host } = await hostOf(
      judge('a', 'haproxy', (findings) => {
        findings.add({
          severity: 'error',
          message: "unknown word 'hunter2'",
          path: 'maps/auth.map',
          line: 1,
        });
      }),
    );
    const said = async (caller: 'admission' | 'validate') =>
      (await runJudges(host, ['haproxy'], candidate, { ...contextOf(), caller })).findings;
    expect(await said('admission')).toMatchObject([
      { message: SECRET_WORDS, path: 'maps/auth.map', line: 1 },
    ]);
    expect(await said('validate')).toMatchObject([{ message: "unknown word 'hunter2'" }]);
  });

  it('gives no verdict when one that a judge asks did not answer, unless another found an error', async () => {
    const found: { severity: 'error' | 'warning' } = { severity: 'warning' };
    const { host } = await hostOf(
      judge('a', 'external', (findings) => {
        findings.unanswered('waf', 'no socket');
        findings.add({ judge: 'style', message: 'x', ...found });
      }),
    );
    const unanswered = { judge: 'waf', phase: 'external', severity: 'error', message: 'no socket' };
    const finding = { judge: 'style', phase: 'external', message: 'x' };
    expect(await runJudges(host, ['external'], candidate, contextOf())).toEqual({
      kind: 'interrupted',
      reason: 'waf: no socket',
      findings: [unanswered, { ...finding, severity: 'warning' }],
    });
    found.severity = 'error';
    expect(await runJudges(host, ['external'], candidate, contextOf())).toEqual({
      kind: 'refused',
      findings: [unanswered, { ...finding, severity: 'error' }],
    });
  });

  it('gives no verdict once the host has stopped', async () => {
    const { host } = await hostOf(judge('a', 'haproxy', fine));
    await host.close();
    expect((await runJudges(host, ['haproxy'], candidate, contextOf())).kind).toBe('interrupted');
  });
});
