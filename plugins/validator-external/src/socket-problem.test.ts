import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '@haptic/core/host';
import { socketProblem } from './socket-problem.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-'));
});
afterEach(() => rm(folder, { recursive: true }));

function problem(name: string): Promise<string | undefined> {
  return socketProblem(join(folder, name), systemClock);
}

test('a socket that is accepted on is fine, however late this process looks', async () => {
  const server = createServer((socket) => socket.destroy());
  server.listen(join(folder, 'v.sock'));
  await once(server, 'listening');
  try {
    const late = { ...systemClock, sleep: () => Promise.resolve() };
    expect(await socketProblem(join(folder, 'v.sock'), late)).toBeUndefined();
  } finally {
    server.close();
  }
});

test('what is missing, no socket, or left behind is a problem', async () => {
  expect(await problem('none.sock')).toBe(`there is no socket ${folder}/none.sock`);
  await writeFile(join(folder, 'file'), '');
  expect(await problem('file')).toBe(`${folder}/file is not a socket`);
  expect(await problem('file/v.sock')).toMatch('ENOTDIR');
});
