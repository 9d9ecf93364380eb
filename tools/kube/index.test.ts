import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { etcdBinary, helmBinary, kubePrograms, ToolUnavailable } from './index.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-tools-'));
  vi.stubEnv('HAPTIC_CACHE', join(folder, 'cache'));
  vi.stubEnv('KUBEBUILDER_ASSETS', '');
  // No Go in there, so nothing is built.
  vi.stubEnv('PATH', '/nonexistent');
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

async function pretend(tool: string, words: string): Promise<string> {
  const path = join(folder, tool);
  await writeFile(path, `#!/bin/sh\necho '${words}'\n`, { mode: 0o755 });
  return path;
}

test('programs that fit are taken from KUBEBUILDER_ASSETS', async () => {
  const programs = {
    'kube-apiserver': await pretend('kube-apiserver', 'Kubernetes v1.37.9'),
    'kube-controller-manager': await pretend('kube-controller-manager', 'Kubernetes v1.37.9'),
    kubectl: await pretend('kubectl', 'Client Version: v1.37.9'),
    etcd: await pretend('etcd', 'etcd Version: 3.5.21'),
  };
  vi.stubEnv('KUBEBUILDER_ASSETS', folder);
  expect(await kubePrograms('1.37')).toEqual(programs);
});

test('a program from PATH is taken', async () => {
  const helm = await pretend('helm', 'v4.9.9');
  vi.stubEnv('PATH', folder);
  expect(await helmBinary()).toBe(helm);
});

test('one that does not fit is left, and the message says what was tried and how to mend it', async () => {
  const etcd = await pretend('etcd', 'etcd Version: 3.4.23');
  vi.stubEnv('KUBEBUILDER_ASSETS', folder);
  const failure: unknown = await etcdBinary().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ToolUnavailable);
  const { message } = failure as Error;
  expect(message).toMatch(/^no etcd 3\.\d+\.\d+ on this machine\. Tried:/);
  expect(message).toContain(`${etcd} is 3.4.23`);
  expect(message).toContain('building it: go does not run');
  expect(message).toContain('install Go 1.21 or newer');
});
