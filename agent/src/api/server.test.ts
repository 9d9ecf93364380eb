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
