import { validatorConformance } from '@haptic/core/testing';
import { describe, expect, test } from 'vitest';
import { flawedValidator, parts, type Parts } from './flawed-validator.ts';
import { answer, frame, socketPath } from './test-validator.ts';

const samples = { error: { path: 'files/bad.txt', content: 'bad\n' } };
const options = { timeoutMs: 400, quietMs: 300, samples, stallMs: parts.stallMs };

const findsBad = (files: readonly { readonly path: string; readonly content: string }[]): object =>
  answer(
    files.flatMap(({ path, content }) =>
      content === 'bad\n' ? [{ path, line: 1, column: 1, message: 'bad' }] : [],
    ),
  );
const right: Partial<Parts> = { judge: ({ files = [] }) => findsBad(files) };
const place = { path: 'files/sample.txt', line: 1, column: 1, message: 'no' };

/** For each check, validators that are right but for one thing, which that check is to find. */
const flaws: Readonly<Record<string, Readonly<Record<string, Partial<Parts>>>>> = {
  'answers a request with exactly one frame and keeps the connection': {
    'that says everything again a little later': {
      reply: (socket, said) => {
        socket.write(frame(said));
        setTimeout(() => socket.write(frame(said)), 20);
      },
    },
    'that closes behind its answer': { reply: (socket, said) => socket.end(frame(said)) },
    'that speaks of files that it was not asked about': { judge: () => answer([{ ...place, path: 'else' }]) },
    'that counts lines from before 0': { judge: () => answer([{ ...place, line: -1 }]) },
    'that says nothing': { judge: () => answer([{ ...place, message: '' }]) },
  },
  'answers one request after the other on one connection': {
    'that closes behind its third answer': {
      judge: (_, nth) => (nth === 2 ? { result: 'tired' } : answer([])),
    },
  },
  'says the same about the same file': {
    'that changes its mind': { judge: (_, nth) => answer(nth % 2 === 0 ? [place] : []) },
  },
  'answers several connections at a time': {
    'that serves one connection at a time': { accepts: (open) => open <= 1 },
  },
  'takes a request in any number of pieces': {
    'that takes each piece for a request': { end: (received) => received.length || Infinity },
  },
  'takes files that ride along as data, and the folder that they are relative to': {
    'that judges the data': {
      judge: ({ files = [] }) => answer(files.map(({ path }) => ({ ...place, path }))),
    },
  },
  'ignores fields that it does not know': {
    'that is strict': {
      judge: (request) =>
        'unknown' in request
          ? { protocol_version: 1, result: 'unsure', warnings: [], errors: [] }
          : answer([]),
    },
  },
  'takes text in any script': {
    'that reads ASCII': {
      decode: (body) =>
        JSON.parse(new TextDecoder('ascii').decode(body).replaceAll(/[^ -~]/g, '"')) as object,
    },
  },
  'takes a request of 8 MiB': { 'that has less room': { maxBytes: 1024 * 1024 } },
  'says "error" about files/bad.txt': { 'that finds nothing': { judge: () => answer([]) } },
  'refuses a version that it does not know, and says the highest that it knows': {
    'that judges all the same': { version: () => answer([]) },
    'that does not say what it knows': { version: () => answer([{ ...place, path: '', message: 'no' }]) },
    'that says it of a file': { version: () => answer([{ ...place, message: '1' }]) },
  },
  'refuses a request without files': { 'that finds them valid': { noFiles: () => answer([]) } },
  'refuses an empty list of files': { 'that finds them valid': { noFiles: () => answer([]) } },
  'refuses a body that is not JSON': { 'that hangs up': { garbled: (socket) => void socket.destroy() } },
  'refuses a body that is not UTF-8': {
    'that reads on': { decode: (body) => JSON.parse(body.toString('utf8')) as object },
  },
  'refuses a frame larger than 8 MiB at its announcement, and closes': {
    'that hangs up without a word': { tooLarge: (socket) => void socket.destroy() },
    'that goes on': { tooLarge: (socket) => socket.write(frame(parts.noFiles())) },
    'that waits for all of it': { maxBytes: Infinity, stalled: () => undefined },
  },
  'goes on when a client leaves in the middle of a request': {
    'that dies of it': { left: (stop, where) => where === 'request' && stop() },
  },
  'goes on when a client leaves without its answer': {
    'that dies of it': { left: (stop, where) => where === 'answer' && stop() },
  },
  'says that a request timed out that stops halfway, and closes': {
    'that waits for ever': { stalled: () => undefined },
    'that hangs up without a word': { stalled: (socket) => void socket.destroy() },
  },
};

test('a validator without a flaw passes', async () => {
  const patient = { ...options, timeoutMs: 10_000, stallMs: 1_000 };
  const path = await flawedValidator({ ...right, stallMs: patient.stallMs });
  for (const { name, run } of validatorConformance(path, patient)) {
    await run().catch((cause: unknown) => expect.fail(`${name}: ${String(cause)}`));
  }
});

test('every check is there for something', () => {
  expect(validatorConformance('', options).map(({ name }) => name)).toEqual(Object.keys(flaws));
});

test('a validator that is not there passes nothing', async () => {
  const path = await socketPath();
  for (const { run } of validatorConformance(path, options)) {
    await expect(run()).rejects.toThrow(`no connection was accepted on ${path}`);
  }
});

describe.each(Object.entries(flaws))('%s', (name, validators) => {
  test.each(Object.entries(validators))('finds one %s', async (_, flaw) => {
    const checks = validatorConformance(await flawedValidator({ ...right, ...flaw }), options);
    await expect(checks.find((check) => check.name === name)!.run()).rejects.toThrow();
  });
});
