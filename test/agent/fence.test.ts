import { expect, test } from 'vitest';
import { fileSetDigest, sumOf } from '@haptic/agent/protocol';
import { forEachVersion, versionsOfOwnLogic } from '../haproxy/versions.ts';
import { until } from '../haproxy/until.ts';
import { applyOf, fileOf, planIdOf, sha256, type Files } from './plan.ts';
import { Pod, TOKEN } from './pod.ts';

forEachVersion(({ binary }) => {
  async function running(options: Record<string, string> = {}): Promise<Pod> {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent(options);
    return pod;
  }

  test('a request that is not the newest, or expects other files, writes nothing', async () => {
    const pod = await running();
    const [one, two] = [pod.site('one'), pod.site('two')];
    expect(await pod.apply(applyOf(one, { expect: planIdOf(two) }))).toMatchObject({
      status: 409,
      body: { reason: 'unknown_baseline', applied: null },
    });
    await pod.apply(applyOf(one, { token: { epoch: 5, seq: 3 } }));

    const next = { expect: planIdOf(one) };
    for (const token of [
      { epoch: 4, seq: 99 },
      { epoch: 5, seq: 2 },
      { epoch: 5, seq: 3 },
    ]) {
      expect(await pod.apply(applyOf(two, { ...next, token })), JSON.stringify(token)).toMatchObject({
        status: 409,
        body: { reason: 'stale_epoch', token: { epoch: 5, seq: 3 } },
      });
    }
    const token = { epoch: 5, seq: 4 };
    expect(await pod.apply(applyOf(two, { token, expect: planIdOf(two) }))).toMatchObject({
      status: 409,
      body: { reason: 'prev_mismatch', applied: planIdOf(one) },
    });
    expect(await pod.tree()).toEqual(one);
    const taken = await pod.apply(applyOf(two, { ...next, token: { epoch: 6, seq: 1 } }));
    expect(taken.body).toMatchObject({ outcome: 'reload' });
    const late = await pod.apply(applyOf(one, { token: { epoch: 5, seq: 100 }, expect: planIdOf(two) }));
    expect(late).toMatchObject({ status: 409, body: { reason: 'stale_epoch' } });
    expect(await pod.tree()).toEqual(two);
  });

  test('a repeat gets the stored answer, also after a restart and after a rejection', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    const agent = await pod.startAgent();
    const good = applyOf(pod.site('good'));
    const first = await pod.apply(good);
    expect(await pod.apply(good)).toEqual(first);
    const bad = applyOf(pod.site('bad', { extra: 'bogus' }), {
      token: { epoch: 1, seq: 2 },
      expect: good.planId,
    });
    const refused = await pod.apply(bad);
    expect(refused.body).toMatchObject({ outcome: 'rejected' });
    await agent.kill('SIGKILL');
    await pod.startAgent();
    expect(await pod.apply(bad)).toEqual(refused);
    expect((await pod.state()).generation).toBe(1);
  });

  test('an apply whose connection is cut goes on, and its repeat gets the answer', async () => {
    const pod = await running();
    const message = applyOf(pod.site('cut'));
    const cut = new AbortController();
    const call = pod.apply(message, cut.signal);
    await until(async () => (await pod.state()).token !== null);
    cut.abort();
    await expect(call).rejects.toThrow();
    expect((await pod.apply(message)).body).toMatchObject({ outcome: 'reload', planId: message.planId });
  });

  test('contents that the agent has need not be sent; others are asked for', async () => {
    const pod = await running();
    const files = pod.site('held');
    await pod.apply(applyOf(files));
    const next = { ...pod.site('held', { map: 'two' }), 'files/new': 'x' };
    const message = applyOf(next, { token: { epoch: 1, seq: 2 }, expect: planIdOf(files), mode: 'auto' });
    const bare = message.files.map(({ path, digest, size, kind, reloadOnChange }) => ({
      path,
      digest,
      size,
      kind,
      reloadOnChange,
    }));
    const asked = await pod.apply({ ...message, files: bare });
    expect(asked).toMatchObject({ status: 409, body: { reason: 'missing' } });
    expect(asked.body.paths?.toSorted()).toEqual(['files/new', 'maps/site.map']);
    const sent = message.files.filter(({ path }) => path !== 'haproxy.cfg');
    const { body } = await pod.apply({ ...message, files: [...sent, bare[0]] });
    expect(body).toMatchObject({ outcome: 'file_only' });
    expect(await pod.tree()).toEqual(next);
  });

  test('contents come as text or in base64, and hold what their digests say', async () => {
    const pod = await running();
    const files: Files = { ...pod.site('text'), 'files/empty': '', 'files/other': 'Grüße, \u{1f600}\r\n\0' };
    const whole = applyOf(files);
    const asText = whole.files.map((file) => ({ ...file, content: undefined, text: files[file.path]! }));
    const [first, ...rest] = asText;
    for (const [text, words] of [
      ['other', /^files\.0\.text: has digest [0-9a-f]{64}, expected/],
      ['\ud800', /^files\.0\.text: has digest/],
    ] as const) {
      const { status, body } = await pod.apply({ ...whole, files: [{ ...first, text }, ...rest] });
      expect([status, body.problems?.join()]).toEqual([422, expect.stringMatching(words)]);
    }
    expect((await pod.apply({ ...whole, files: asText })).body).toMatchObject({ outcome: 'reload' });
    expect(await pod.tree()).toEqual(files);
  });

  test('a patch of bytes that the agent has does; for others the content is asked for', async () => {
    const pod = await running();
    const config = pod.site('patched');
    const files = { ...config, 'files/a': 'one two three' };
    await pod.apply(applyOf(files));
    const next = { ...files, 'files/a': 'one 2 three' };
    const message = applyOf(next, { token: { epoch: 1, seq: 2 }, expect: planIdOf(files), mode: 'auto' });
    const patchedBy = (from: string) => ({
      ...message,
      files: message.files.map(({ content, ...file }) =>
        file.path === 'files/a'
          ? { ...file, patch: { from, parts: [[0, 4], Buffer.from('2').toString('base64'), [7, 6]] } }
          : { ...file, ...(content !== undefined && { content }) },
      ),
    });
    const chunk = Buffer.from('a plan');
    const plan = { chunks: [sha256('a plan')], data: { [sha256('a plan')]: chunk.toString('base64') } };
    for (const from of [sha256('nothing'), sha256(config['haproxy.cfg'] ?? '')]) {
      expect(await pod.apply({ ...patchedBy(from), plan: { ...plan, data: {} } })).toMatchObject({
        status: 409,
        body: { reason: 'missing', paths: ['files/a'], chunks: plan.chunks },
      });
    }
    const { body } = await pod.apply({ ...patchedBy(sha256(files['files/a'])), plan });
    expect(body).toMatchObject({ outcome: 'file_only' });
    expect(await pod.tree()).toEqual(next);
    expect((await pod.state()).plan).toEqual(plan);
    const bent = { ...plan, data: { [sha256('b')]: chunk.toString('base64') } };
    expect((await pod.apply({ ...message, plan: bent })).status).toBe(422);
  });

  test('of a set only what differs need be sent, and both sides must mean the same set', async () => {
    const pod = await running();
    const files = { ...pod.site('delta'), 'files/a': 'one', 'files/b': 'two', 'dir/file': 'x' };
    await pod.apply(applyOf(files));
    const { 'files/b': _gone, ...rest } = files;
    const next = { ...rest, 'files/a': 'other', 'files/c': 'new' };
    const whole = applyOf(next, { token: { epoch: 1, seq: 2 }, expect: planIdOf(files), mode: 'auto' });
    const changed = whole.files.filter(({ path }) => ['files/a', 'files/c'].includes(path));
    const delta = { removed: ['files/b'], digest: fileSetDigest(sumOf(whole.files)) };
    const message = { ...whole, files: changed, delta };

    expect(await pod.apply({ ...message, delta: { ...delta, removed: [] } })).toMatchObject({
      status: 409,
      body: { reason: 'unknown_baseline' },
    });
    expect(await pod.apply({ ...message, expect: planIdOf(next) })).toMatchObject({
      status: 409,
      body: { reason: 'prev_mismatch' },
    });
    for (const path of ['dir', 'haproxy.cfg/x', '../x', 'files/b']) {
      const { status, body } = await pod.apply({ ...message, files: [...changed, fileOf(path, 'x')] });
      expect([status, body.problems?.join()], path).toEqual([422, expect.stringContaining('files.2.path')]);
    }
    const bare = { ...delta, removed: ['haproxy.cfg'] };
    expect((await pod.apply({ ...message, delta: bare })).status).toBe(409);
    expect(await pod.tree()).toEqual(files);

    const taken = await pod.apply(message);
    expect(taken.body).toMatchObject({ outcome: 'file_only', planId: planIdOf(next) });
    expect(await pod.tree()).toEqual(next);
    expect(await pod.apply(message)).toEqual(taken);
    expect(await pod.state('verify=1')).toMatchObject({ drift: [] });
  });

  test('hostile and broken messages are refused with the place', async () => {
    const pod = await running();
    const good = applyOf(pod.site('x'));
    const paths = [
      '/etc/passwd',
      '../x',
      'a/../../x',
      'a//b',
      './a',
      'a/.',
      'a\0b',
      'a\\b',
      'n'.repeat(256),
      'haproxy.cfg/x',
    ];
    for (const path of paths) {
      const { status, body } = await pod.apply({ ...good, files: [...good.files, fileOf(path, 'x')] });
      expect(status, path).toBe(422);
      expect(body.problems?.join()).toContain('files.');
    }
    const broken: [object, RegExp][] = [
      [{ ...good, files: [...good.files, good.files[0]] }, /appears twice/],
      [{ ...good, files: good.files.slice(1) }, /haproxy\.cfg is missing/],
      [{ ...good, files: [{ ...good.files[0], digest: '0'.repeat(64) }] }, /files\.0\.content: has digest/],
      [{ ...good, files: [{ ...good.files[0], size: 1 }] }, /files\.0\.size/],
      [{ ...good, token: { epoch: -1, seq: 0 } }, /token\.epoch/],
      [{ ...good, token: { epoch: 2 ** 40 + 1, seq: 0 } }, /token\.epoch: expected an epoch of at most/],
      [{ ...good, ops: 'none' }, /ops/],
    ];
    for (const [message, words] of broken) {
      const { status, body } = await pod.apply(message);
      expect(status).toBe(422);
      expect(body.problems?.join()).toMatch(words);
    }
    expect(await pod.state()).toMatchObject({ applied: null, token: null });
  });

  test('what is no message at all is refused, and the next one is served', async () => {
    const pod = await running();
    const whole = JSON.stringify(applyOf(pod.site('x')));
    const bodies = [
      '',
      'null',
      '[]',
      '17',
      whole.slice(0, -1),
      whole.slice(0, whole.length / 2),
      `${whole}${whole}`,
      '\0\x01\xff{"planId":\0}',
      '['.repeat(200_000),
      `{"a":`.repeat(50_000),
      '{"__proto__":{"planId":"x"},"constructor":{"prototype":{}}}',
    ];
    for (const body of bodies) {
      const { status } = await pod.call('POST', '/v1/apply', body);
      expect([400, 422], body.slice(0, 40)).toContain(status);
    }
    expect(await pod.state()).toMatchObject({ applied: null, token: null });
    expect((await pod.apply(applyOf(pod.site('x')))).body).toMatchObject({ outcome: 'reload' });
  });

  test('nothing is answered without the token, and wrong calls say what is right', async () => {
    const pod = await running();
    for (const token of ['', 'wrong', `${TOKEN} `, TOKEN.slice(1)]) {
      expect((await pod.call('GET', '/v1/state', undefined, undefined, token)).status).toBe(
        token.trim() === TOKEN ? 200 : 401,
      );
    }
    expect(await pod.call('GET', '/v1/apply')).toMatchObject({ status: 405 });
    expect(await pod.call('POST', '/v1/state', '{}')).toMatchObject({ status: 405 });
    expect((await pod.call('GET', '/v2/state')).body.error).toContain('GET /v1/state');
    expect((await pod.call('POST', '/v1/apply', '{"planId":')).status).toBe(422);
    const huge = await pod.call('POST', '/v1/apply', `"${'x'.repeat(64 * 1024 * 1024)}"`);
    expect(huge).toMatchObject({ status: 413 });
  });

  test('what this agent does not know becomes a reload of everything', async () => {
    const pod = await running();
    const one = pod.site('one');
    await pod.apply(applyOf(one));
    const two = pod.site('one', { map: 'two' });
    const { body } = await pod.apply({
      ...applyOf(two, { token: { epoch: 1, seq: 2 }, expect: planIdOf(one), mode: 'auto' }),
      ops: [{ op: 'map.turn', map: 'maps/site.map' }],
      unheardOf: true,
    });
    expect(body).toMatchObject({ outcome: 'reload', skew: ['op map.turn'] });
    const repeat = await pod.apply(
      applyOf(two, { token: { epoch: 1, seq: 3 }, expect: planIdOf(two), mode: 'sideways' }),
    );
    expect(repeat.body).toMatchObject({ outcome: 'reload', skew: ['mode sideways'] });
  });
}, versionsOfOwnLogic);
