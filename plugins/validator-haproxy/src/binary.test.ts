import { expect, test } from 'vitest';
import { findBinary, readVersion } from './binary.ts';

test('a name is looked up in PATH, in order', async () => {
  expect(await findBinary('sh', '/nonexistent:/bin:/usr/bin')).toBe('/bin/sh');
});

test('what cannot be found is named with the mend', async () => {
  await expect(findBinary('no-such-program', '/bin:/usr/bin')).rejects.toThrow(
    "no HAProxy to check configurations with: 'no-such-program' is in no folder of PATH (/bin:/usr/bin). " +
      "Install HAProxy 3.0, 3.2 or 3.4, or name its program with --haproxy, HAPTIC_HAPROXY or this plugin's option 'binary'.",
  );
  await expect(findBinary('/etc/passwd')).rejects.toThrow('/etc/passwd is not an executable file');
  await expect(findBinary('/etc')).rejects.toThrow('/etc is not an executable file');
});

test('a program that is not HAProxy is named with its words', () => {
  const ended = { kind: 'ended', stderr: '' } as const;
  const version = 'HAProxy version 3.4.7-1 2026/11/20 - https://haproxy.org/\nStatus: …\n';
  expect(readVersion('h', { ...ended, code: 0, stdout: version })).toBe('3.4.7-1');
  expect(() => readVersion('h', { ...ended, code: 0, stdout: 'nginx/1.2' })).toThrow(
    'h does not answer -v as HAProxy does: nginx/1.2',
  );
  expect(() => readVersion('h', { ...ended, code: 127, stdout: '' })).toThrow('exit code 127');
});
