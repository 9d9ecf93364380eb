import { execa } from 'execa';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempDir } from './temp-dir.ts';

const main = join(import.meta.dirname, '../../tools/haproxy/main.ts');

/** Runs the tool with a cache of its own. */
function getHaproxy(cache: string, env: Record<string, string> = {}) {
  return execa(process.execPath, ['--conditions=source', main, '3.0'], {
    env: { HAPTIC_CACHE: cache, HAPTIC_HAPROXY_3_0: '', ...env },
    reject: false,
    timeout: 100_000,
  });
}

test(
  'a run that was killed and two at once end in one whole installation',
  { timeout: 120_000 },
  async (context) => {
    const cache = await tempDir();
    const killed = getHaproxy(cache);
    await new Promise<void>((resolve) => {
      killed.stderr.on('data', (chunk: Buffer) => void (chunk.includes('downloading') && resolve()));
      void killed.then(() => resolve());
    });
    killed.kill('SIGKILL');
    await killed;

    const both = await Promise.all([getHaproxy(cache), getHaproxy(cache)]);
    const words = both.map(({ stderr }) => stderr).join('\n');
    if (process.env['CI'] !== 'true' && both.every(({ exitCode }) => exitCode === 1)) {
      context.skip(`no package archive: ${words.split('\n')[0]}`);
    }
    if (both.every(({ stdout }) => stdout !== '' && !stdout.startsWith(cache))) {
      context.skip('this system has HAProxy 3.0 of its own');
    }
    const binary = join(cache, 'haptic/haproxy/3.0/sbin/haproxy');
    expect(
      both.map(({ stdout }) => stdout),
      words,
    ).toEqual([binary, binary]);
    expect(words.match(/is in /g), words).toHaveLength(1);
    expect((await execa(binary, ['-v'])).stdout).toContain('HAProxy version 3.0.');
    expect((await readdir(join(cache, 'haptic/haproxy'))).toSorted()).toEqual(['3.0', '3.0.lock']);

    const again = await getHaproxy(cache);
    expect(again).toMatchObject({ stdout: binary, stderr: '', exitCode: 0 });
  },
);

test('a binary that was asked for by name is that one or none', async () => {
  const named = await getHaproxy(await tempDir(), { HAPTIC_HAPROXY_3_0: '/bin/true' });
  expect(named.exitCode).toBe(1);
  expect(named.stderr).toContain('HAPTIC_HAPROXY_3_0=/bin/true: does not run, or is not HAProxy');
});
