import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Pod } from './pod.ts';

/** What an agent cannot start on must not keep it from ending: nothing reaches a process that waits in the kernel, or spins. */
const cases: readonly (readonly [name: string, option: string, path: string, told: string])[] = [
  ['a socket', 'listen', 'unix:/proc/haptic/agent.sock', '/proc/haptic: cannot be made: ENOENT'],
  ['a base folder', 'base-dir', '/proc/haptic/base', '/proc/haptic/base: cannot be made: ENOENT'],
  ['a token', 'token-file', 'fifo', 'fifo: is no regular file'],
];

test.runIf(process.platform === 'linux').each(cases)(
  'an agent whose place for %s cannot be used says so and ends',
  async (_, option, path, told) => {
    const pod = await Pod.create('haproxy');
    execFileSync('mkfifo', [join(pod.dir, 'fifo')]);
    const agent = pod.spawnAgent({ [option]: path === 'fifo' ? join(pod.dir, path) : path });
    const late = AbortSignal.timeout(20_000);
    late.addEventListener('abort', () => void agent.kill('SIGKILL'));
    expect(await agent.ended).toBe(1);
    expect(agent.output()).toContain(told);
  },
);
