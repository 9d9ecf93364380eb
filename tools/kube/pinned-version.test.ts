import { expect, test } from 'vitest';
import { linkerFlags } from './linker-flags.ts';
import { pinnedVersion, versionIn } from './pinned-version.ts';
import { etcd, helm, kubeMinors, kubernetesPrograms, minorOf } from './programs.ts';

test('each program is pinned by a go.mod of ours', async () => {
  for (const minor of kubeMinors) {
    for (const program of kubernetesPrograms(minor))
      expect(minorOf(await pinnedVersion(program))).toBe(minor);
  }
  expect(await pinnedVersion(etcd)).toMatch(/^3\.\d+\.\d+$/);
  expect(await pinnedVersion(helm)).toMatch(/^\d+\.\d+\.\d+$/);
});

test('a go.mod is read with and without a block', () => {
  expect(versionIn('module x\n\nrequire a.b/c v1.2.3\n', 'a.b/c')).toBe('1.2.3');
  expect(versionIn('require (\n\ta.b/cd v9.9.9\n\ta.b/c v1.2.3 // indirect\n)\n', 'a.b/c')).toBe('1.2.3');
  expect(() => versionIn('module x\n', 'a.b/c')).toThrow('does not require a.b/c');
});

test('a program of Kubernetes is told its version', () => {
  const [server] = kubernetesPrograms('1.33');
  if (server === undefined) throw new Error('no program');
  const flags = linkerFlags(server, '1.33.13');
  expect(flags).toContain('-X k8s.io/component-base/version.gitVersion=v1.33.13');
  expect(flags).toContain('-X k8s.io/component-base/version.gitMinor=33');
  expect(flags).toMatch(/^-s -w /);
});

test('other versions fit by what they can do', () => {
  const [server] = kubernetesPrograms('1.37');
  expect(server?.fits('1.37.9', '1.37.2')).toBe(true);
  expect(server?.fits('1.36.9', '1.37.2')).toBe(false);
  expect(etcd.fits('3.5.16', '3.6.16')).toBe(true);
  expect(etcd.fits('3.4.23', '3.6.16')).toBe(false);
  expect(helm.fits('3.18.0', '4.3.1')).toBe(false);
});
