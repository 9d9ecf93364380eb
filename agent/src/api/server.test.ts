import { expect, test } from 'vitest';
import { Cancelled } from '@haptic/core/contract';
import { memoryLog } from '@haptic/core/testing';
import { createApi } from './server.ts';

const token = { value: 'a token that is long enough' };

/** What a call is answered whose work ends like this, and how often that was unexpected. */
async function ending(
  reason: Error,
): Promise<{ status: number; body: unknown; failures: number; logged: number }> {
  let failures = 0;
  const fails = async (): Promise<never> => {
    throw reason;
  };
  const log = memoryLog();
  const server = createApi({
    agent: { state: fails, apply: fails },
    log,
    signal: new AbortController().signal,
    token,
    failed: () => void (failures += 1),
  });
  const headers = { authorization: `Bearer ${token.value}` };
  const { statusCode, body } = await server.inject({ url: '/v1/state', headers });
  return { status: statusCode, body: JSON.parse(body), failures, logged: log.records.length };
}

const givenUp = { status: 503, body: { error: 'the call was given up' }, failures: 0, logged: 0 };

test.each([
  ['what an agent that stops leaves undone', new Cancelled('the agent is stopping'), givenUp],
  ['a caller that has gone', AbortSignal.abort().reason as Error, givenUp],
  ['anything else', new Error('oops'), { status: 500, body: { error: 'oops' }, failures: 1, logged: 1 }],
])('a call that fails is told from one that was given up: %s', async (_name, error, expected) => {
  expect(await ending(error)).toEqual(expected);
});

const digest = 'a'.repeat(64);
const file = { path: 'haproxy.cfg', digest, size: 1, kind: 'config', reloadOnChange: true };
const message = {
  planId: 'p',
  textId: '',
  token: { epoch: 1, seq: 1 },
  expect: null,
  mode: 'auto',
  files: [file],
};

/** What a body, or a query, is answered that nobody is to work on. */
async function refusal(call: { readonly body?: unknown; readonly type?: string; readonly query?: string }) {
  const fails = (): Promise<never> => expect.fail('was taken');
  const server = createApi({
    agent: { state: fails, apply: fails },
    log: memoryLog(),
    signal: new AbortController().signal,
    token,
    failed: () => {},
  });
  const { body, type = 'application/json', query } = call;
  const { statusCode, body: answer } = await server.inject({
    method: query === undefined ? 'POST' : 'GET',
    url: query === undefined ? '/v1/apply' : `/v1/state?${query}`,
    headers: { authorization: `Bearer ${token.value}`, ...(type !== '' && { 'content-type': type }) },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  return { status: statusCode, ...(JSON.parse(answer) as { error: string; problems?: string[] }) };
}

test.each([
  [
    { body: 'hello', type: 'text/plain' },
    415,
    'expected a body of the type application/json, received "text/plain"',
  ],
  [
    { body: 'a=b', type: 'nonsense' },
    415,
    'expected a body of the type application/json, received "nonsense"',
  ],
  [{ body: 'hello', type: '' }, 415, 'expected a body of the type application/json, received one of no type'],
  [{ type: '' }, 422, 'expected a body of JSON, there is none'],
  [{ body: '' }, 422, "Body cannot be empty when content-type is set to 'application/json'"],
  [{ body: '{"a"' }, 422, "Body is not valid JSON but content-type is set to 'application/json'"],
])('what is no JSON is told from what is: %j', async (call, status, error) => {
  expect(await refusal(call)).toEqual({ status, error });
});

test.each([
  ['null', 'null'],
  ['[]', 'array'],
  ['17', 'number'],
  ['"x"', 'string'],
])('a body that is no object is called that: %s', async (body, type) => {
  const problems = [`the body: Invalid input: expected object, received ${type}`];
  expect(await refusal({ body })).toEqual({ status: 422, error: 'the message is broken', problems });
});

const inFile = (change: object): object => ({ files: [{ ...file, ...change }] });
const inPatch = (...parts: readonly unknown[]): object => inFile({ patch: { from: digest, parts } });
const inPlan = (chunks: unknown, data: unknown = {}): object => ({ plan: { chunks, data } });

test.each([
  ['planId', { planId: '' }],
  ['planId', { planId: 'x'.repeat(129) }],
  ['textId', { textId: null }],
  ['token', { token: 'x' }],
  ['token.epoch', { token: { seq: 1 } }],
  ['token.epoch', { token: { epoch: 2 ** 41, seq: 1 } }],
  ['token.seq', { token: { epoch: 1, seq: -1 } }],
  ['expect', { expect: undefined }],
  ['mode', { mode: 1 }],
  ['files', { files: {} }],
  ['files.0', { files: [null] }],
  ['files.0.path', inFile({ path: '' })],
  ['files.0.digest', inFile({ digest: 'x' })],
  ['files.0.size', inFile({ size: '1' })],
  ['files.0.kind', inFile({ kind: 1 })],
  ['files.0.reloadOnChange', inFile({ reloadOnChange: 'x' })],
  ['files.0.text', inFile({ text: 1 })],
  ['files.0.content', inFile({ content: '%' })],
  ['files.0.patch', inFile({ patch: [] })],
  ['files.0.patch.from', inFile({ patch: { from: 'x', parts: [] } })],
  ['files.0.patch.parts.0', inPatch(1)],
  ['files.0.patch.parts.0', inPatch('%')],
  ['files.0.patch.parts.0.1', inPatch([1, -1])],
  ['delta', { delta: 1 }],
  ['delta.removed', { delta: { removed: 1, digest } }],
  ['delta.digest', { delta: { removed: [], digest: 'x' } }],
  ['ops', { ops: 'none' }],
  ['ops', { ops: Array.from({ length: 1_001 }, () => ({ op: 'x' })) }],
  ['ops.0', { ops: [1] }],
  ['ops.0.op', { ops: [{}] }],
  ['inPlaceOps', { inPlaceOps: {} }],
  ['binds.0', { binds: [1] }],
  ['binds.0.address', { binds: [{}] }],
  ['validated', { validated: '' }],
  ['plan', { plan: 1 }],
  ['plan.chunks.0', inPlan([1])],
  ['plan.chunks.0', inPlan(['x'])],
  ['plan.chunks.0.1', inPlan([[0, 0]])],
  ['plan.data', inPlan([], [])],
  ['plan.data.a', inPlan([], { a: '%' })],
])('each problem says where it is and what was expected: %s', async (place, change) => {
  const { status, problems } = await refusal({ body: { ...message, ...change } });
  expect({ status, problems }).toEqual({ status: 422, problems: [expect.any(String)] });
  expect(problems![0]).toMatch(new RegExp(`^${place.replaceAll('.', '\\.')}: .*expected .`));
});

test.each([
  'verify=2',
  'plan=',
  'files=x',
  'health=1&health=0',
  'after=-1',
  'after=1&after=2',
  'worker=x',
  'waitMs=1.5',
])('so does each of a query: %s', async (query) => {
  const { status, error, problems } = await refusal({ query });
  expect([status, error]).toEqual([422, 'the query is broken']);
  expect(problems![0]).toMatch(new RegExp(`^${query.split('=')[0]}: .*expected .`));
});
