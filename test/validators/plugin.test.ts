import { writeFile } from 'node:fs/promises';
import { pluginContract } from '@haptic/core/testing';
import plugin from '@haptic/validator-external';
import { describe, expect, test } from 'vitest';
import { until } from '../haproxy/until.ts';
import { candidateOf, configOf, stagedRoot } from './candidate.ts';
import { startPlugin } from './start-plugin.ts';
import { answer, frame, socketPath, startValidator, valid } from './test-validator.ts';

const declared = (name: string, socketPath: string, more: object = {}): object => ({
  name,
  socketPath,
  files: ['maps/*'],
  ...more,
});
const files = {
  'haproxy.cfg': 'global\n',
  'maps/a.map': 'a 1\n',
  'maps/b.map': 'b 2\n',
  'files/x.lua': '--\n',
};
const place = { path: 'maps/a.map', line: 1, column: 3, message: 'no' };

describe('the contract of plugins', () => {
  for (const { name, run } of pluginContract(plugin, { options: {} })) test(name, () => run());
});

describe('requests', () => {
  test('are one for each file, with the data riding along', async () => {
    const validator = await startValidator();
    const { judge } = await startPlugin();
    const more = { files: ['haproxy.cfg', 'maps/*'], dataFiles: ['maps/b*', 'files/*.lua', 'certs/*'] };
    const verdict = await judge(candidateOf(files, declared('policy', validator.socketPath, more)));
    expect(verdict).toEqual({ kind: 'passed', findings: [] });
    const data = [
      { path: 'files/x.lua', content: '--\n', kind: 'data' },
      { path: 'maps/b.map', content: 'b 2\n', kind: 'data' },
    ];
    const about = (path: string, content: string): object => ({
      protocol_version: 1,
      files: [{ path, content }, ...data],
      staged_root: stagedRoot,
    });
    const byPath = validator.requests.toSorted((a, b) => (a.files[0]!.path < b.files[0]!.path ? -1 : 1));
    expect(byPath).toEqual([about('haproxy.cfg', 'global\n'), about('maps/a.map', 'a 1\n')]);
  });

  test('are none where no glob matches, or nothing but data does', async () => {
    const validator = await startValidator();
    const { judge } = await startPlugin();
    const nothing = declared('nothing', validator.socketPath, { files: ['certs/*'], dataFiles: ['*'] });
    const onlyData = declared('data', validator.socketPath, { dataFiles: ['maps/*'] });
    expect((await judge(candidateOf(files, nothing, onlyData))).kind).toBe('passed');
    expect(validator.requests).toEqual([]);
  });

  test('are made again for the same bytes, and another answer counts', async () => {
    const answers = [answer([]), answer([]), answer([place])];
    const validator = await startValidator({ asked: (socket) => socket.write(frame(answers.shift()!)) });
    const { judge } = await startPlugin();
    const candidate = candidateOf({ 'maps/a.map': 'a 1\n' }, declared('policy', validator.socketPath));
    expect((await judge(candidate)).kind).toBe('passed');
    expect((await judge(candidate)).kind).toBe('passed');
    expect((await judge(candidate)).kind).toBe('refused');
    expect(validator.requests).toHaveLength(3);
  });

  test.each([
    ['larger than a frame', 'a '.repeat(4_500_000), /the request has 90\d{5} bytes/],
    ['whose data is no text', Buffer.of(0xff), /maps\/a\.map is not UTF-8 text/],
  ])('cannot be %s', async (_, content, words) => {
    const validator = await startValidator();
    const { judge } = await startPlugin();
    const candidate = candidateOf({ 'maps/a.map': content }, declared('policy', validator.socketPath));
    const reason = expect.stringMatching(words) as string;
    expect(await judge(candidate)).toMatchObject({ kind: 'interrupted', reason });
    expect(validator.requests).toEqual([]);
  });
});

describe('answers', () => {
  test('become findings in the name of their validator, with their place', async () => {
    const strict = await startValidator({ asked: (socket) => socket.write(frame(answer([place]))) });
    const mild = await startValidator({
      asked: (socket) => socket.write(frame(answer([], [{ ...place, line: 0, column: 0, message: 'hm' }]))),
    });
    const { judge } = await startPlugin();
    const candidate = candidateOf(
      { 'maps/a.map': 'a 1\n' },
      declared('strict', strict.socketPath),
      declared('mild', mild.socketPath),
    );
    const provenance = { snippet: 'hosts', source: 'base', line: 3, objects: [] };
    const rendered = { ...candidate.rendered, locate: () => provenance };
    const external = { phase: 'external', path: 'maps/a.map' };
    expect(await judge({ ...candidate, rendered })).toEqual({
      kind: 'refused',
      findings: expect.toSatisfy((found: object[]) => found.length === 2) as unknown,
    });
    const { findings } = await judge({ ...candidate, rendered });
    expect(findings).toContainEqual({
      ...external,
      judge: 'strict',
      severity: 'error',
      message: 'no',
      line: 1,
      column: 3,
      provenance,
    });
    expect(findings).toContainEqual({ ...external, judge: 'mild', severity: 'warning', message: 'hm' });
  });

  test('with warnings pass', async () => {
    const validator = await startValidator({ asked: (socket) => socket.write(frame(answer([], [place]))) });
    const { judge } = await startPlugin();
    const verdict = await judge(candidateOf({ 'maps/a.map': '' }, declared('mild', validator.socketPath)));
    expect(verdict).toMatchObject({ kind: 'passed', findings: [{ judge: 'mild', severity: 'warning' }] });
  });

  test('with an error refuse, also where another validator gives none', async () => {
    const strict = await startValidator({ asked: (socket) => socket.write(frame(answer([place]))) });
    const { judge } = await startPlugin();
    const absent = await socketPath();
    const candidate = candidateOf(files, declared('absent', absent), declared('strict', strict.socketPath));
    const verdict = await judge(candidate);
    expect(verdict.kind).toBe('refused');
    expect(verdict.findings).toContainEqual({
      judge: 'absent',
      phase: 'external',
      severity: 'error',
      message: `there is no socket ${absent} (asked about maps/a.map and 1 more)`,
    });
  });

  test('are counted by result', async () => {
    const validator = await startValidator({
      asked: (socket, { files: [file] }) =>
        socket.write(file!.path === 'maps/a.map' ? frame(answer([place])) : frame('no JSON')),
    });
    const { host, judge, meter } = await startPlugin();
    const validators = [declared('policy', validator.socketPath)];
    await judge(candidateOf(files, ...validators));
    const requests = 'haptic_validator_requests_total';
    expect(meter.value(requests, { validator: 'policy', result: 'error' })).toBe(1);
    expect(meter.value(requests, { validator: 'policy', result: 'failed' })).toBe(1);
    host.hooks.configAccepted.call(configOf(validators), undefined);
    host.hooks.configAccepted.call(configOf([]), undefined);
    expect(meter.series(requests)).toEqual([]);
  });
});

describe('a validator that is not there', () => {
  test('gives no verdict: its socket is missing, a file, or nobody listens', async () => {
    const missing = await socketPath();
    const file = await socketPath();
    await writeFile(file, '');
    const { judge } = await startPlugin();
    const one = { 'maps/a.map': '' };
    expect(await judge(candidateOf(one, declared('policy', missing)))).toMatchObject({
      kind: 'interrupted',
      reason: `policy: there is no socket ${missing} (asked about maps/a.map)`,
    });
    expect(await judge(candidateOf(one, declared('policy', file)))).toMatchObject({
      kind: 'interrupted',
      reason: `policy: nothing listens on ${file} (asked about maps/a.map)`,
    });
  });

  test('can be left out of haptic validate, and of nothing else', async () => {
    const { judge } = await startPlugin({ options: { skip: ['policy'] } });
    const candidate = candidateOf(files, declared('policy', await socketPath()));
    expect((await judge(candidate, { caller: 'validate' })).kind).toBe('passed');
    for (const caller of ['reconcile', 'admission', 'load-gate', 'promotion', 'preflight'] as const) {
      expect((await judge(candidate, { caller })).kind, caller).toBe('interrupted');
    }
  });

  test('shows by name in the health body, as long as it is not there', async () => {
    const there = await startValidator();
    const missing = await socketPath();
    const { host } = await startPlugin();
    const problem = async (): Promise<string | undefined> => (await host.health())[0]?.problem;
    expect(await problem()).toBeUndefined();
    const file = await socketPath();
    await writeFile(file, '');
    const validators = [
      declared('there', there.socketPath),
      declared('gone', missing),
      declared('file', file),
    ];
    host.hooks.configAccepted.call(configOf(validators), undefined);
    expect(await problem()).toBe(`gone: there is no socket ${missing}; file: ${file} is not a socket`);
    host.hooks.configAccepted.call(configOf(validators.slice(0, 1)), undefined);
    expect(await problem()).toBeUndefined();
  });
});

describe('work that is called off', () => {
  test('is no verdict, with answers in and others missing', async () => {
    const quick = await startValidator({ asked: (socket) => socket.write(frame(answer([place]))) });
    const slow = await startValidator({ asked: () => undefined });
    const { judge, host } = await startPlugin();
    const abort = new AbortController();
    const candidate = candidateOf(
      files,
      declared('quick', quick.socketPath),
      declared('slow', slow.socketPath),
    );
    const verdict = judge(candidate, { signal: abort.signal });
    await until(() => quick.requests.length === 2 && slow.requests.length === 2);
    abort.abort();
    expect(await verdict).toMatchObject({ kind: 'interrupted', reason: 'cancelled' });
    expect(host.pending()).toEqual([]);
    await until(() => slow.open === 0, { what: 'its connections are closed' });
  });

  test('frees what waits behind it', async () => {
    const hung = await startValidator({ asked: () => undefined });
    const fine = await startValidator({ asked: (socket) => socket.write(frame(valid)) });
    const { judge } = await startPlugin();
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`maps/${index}.map`, '']));
    const abort = new AbortController();
    const first = judge(candidateOf(many, declared('hung', hung.socketPath, { timeoutMs: 60_000 })), abort);
    await until(() => hung.requests.length === 4);
    const second = judge(candidateOf(many, declared('fine', fine.socketPath)));
    abort.abort();
    expect((await first).kind).toBe('interrupted');
    expect((await second).kind).toBe('passed');
    expect(hung.requests).toHaveLength(4);
    expect(fine.requests).toHaveLength(40);
  });
});

test('measures end with the declaration of a validator, be it one that never came to serve', async () => {
  const validator = await startValidator();
  const { host, judge, meter } = await startPlugin();
  const [first, second] = [declared('first', validator.socketPath), declared('second', validator.socketPath)];
  const measured = () =>
    new Set(meter.series('haptic_validator_requests_total').map(({ labels }) => labels['validator']));
  host.hooks.configAccepted.call(configOf([first]), undefined);
  await judge(candidateOf(files, first));
  await judge(candidateOf(files, first, second));
  expect(measured()).toEqual(new Set(['first', 'second']));
  host.hooks.configAccepted.call(configOf([first]), undefined);
  expect(measured()).toEqual(new Set(['first']));
  host.hooks.configAccepted.call(configOf([]), undefined);
  expect(measured()).toEqual(new Set());
});
