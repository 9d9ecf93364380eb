import { validatorConformance } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { candidateOf } from './candidate.ts';
import { misbehaviours } from './misbehaviours.ts';
import { startPlugin } from './start-plugin.ts';
import { answer, frame, startValidator } from './test-validator.ts';

const cases = Object.entries(misbehaviours);
/** Long enough for a busy machine, and short for those that never answer. */
const timeoutMs = 400;

describe('a validator that is wrong gives no verdict', () => {
  test.for(cases)('%s', async ([, { plugin: words, ...behaviour }]) => {
    const { socketPath } = await startValidator(behaviour);
    const { judge } = await startPlugin();
    const declared = { name: 'policy', socketPath, files: ['maps/*'], timeoutMs };
    const verdict = await judge(candidateOf({ 'maps/hosts.map': 'a b\n' }, declared));
    expect(verdict).toMatchObject({
      kind: 'interrupted',
      reason: expect.stringMatching(words) as string,
      findings: [
        {
          judge: 'policy',
          phase: 'external',
          severity: 'error',
          message: expect.stringMatching(words) as string,
        },
      ],
    });
  });

  test.for(cases)('%s, also where it answered before on the connection', async ([, wrong]) => {
    let right = 0;
    const { asked, connected, plugin: words } = wrong;
    if (asked === undefined) return; // wrong from its first byte
    const { socketPath } = await startValidator({
      ...(connected && { connected }),
      asked: (socket, request, nth) =>
        right++ === 0 ? socket.write(frame(answer([]))) : asked(socket, request, nth),
    });
    const { judge } = await startPlugin();
    const declared = { name: 'policy', socketPath, files: ['maps/*'], timeoutMs };
    const candidate = candidateOf({ 'maps/hosts.map': 'a b\n' }, declared);
    expect((await judge(candidate)).kind).toBe('passed');
    const verdict = await judge(candidate);
    expect(verdict).toMatchObject({ kind: 'interrupted', reason: expect.stringMatching(words) as string });
  });
});

describe('the conformance kit', () => {
  test.for(cases)('finds a validator %s', async ([, { kit: words, ...behaviour }]) => {
    const { socketPath } = await startValidator(behaviour);
    const [first] = validatorConformance(socketPath, { timeoutMs, quietMs: 50 });
    expect(first!.name).toBe('answers a request with exactly one frame and keeps the connection');
    await expect(first!.run()).rejects.toThrow(words);
  });
});
