import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { applyOf, planIdOf } from './plan.ts';
import { Pod } from './pod.ts';

/** The inode of what listens on a port of 127.0.0.1: the identical socket, whoever holds it. */
async function listeningSocket(port: number): Promise<string> {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  const [socket] = lines.filter(([, address, , state]) => address === local && state === '0A');
  return socket?.[9] ?? '';
}

forEachVersion(({ binary, minor }) => {
  test('a reload hands its sockets on; only after a refused one HAProxy opens new ones (docs/agent.md)', async () => {
    const pod = await Pod.create(binary);
    await pod.startHaproxy();
    await pod.startAgent();
    let seq = 0;
    let before: string | null = null;
    const load = async (text: string, extra = ''): Promise<string> => {
      const files = pod.site(text, { extra });
      const { body } = await pod.apply(applyOf(files, { token: { epoch: 1, seq: ++seq }, expect: before }));
      if (body.outcome === 'reload') before = planIdOf(files);
      return body.outcome;
    };
    expect(await load('one')).toBe('reload');
    const first = await listeningSocket(pod.port);
    expect(first).not.toBe('');
    expect(await load('two')).toBe('reload');
    expect(await listeningSocket(pod.port)).toBe(first);

    expect(await load('three', 'bogus')).toBe('rejected');
    expect(await listeningSocket(pod.port)).toBe(first);
    expect(await load('four')).toBe('reload');
    const next = await listeningSocket(pod.port);
    // A release that hands them on here as well makes docs/agent.md wrong, and what tests of kills forgive.
    expect(next === first).toBe(minor === '3.0');
    expect(await load('five')).toBe('reload');
    expect(await listeningSocket(pod.port)).toBe(next);
  });
});
