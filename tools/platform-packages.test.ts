import { expect, test } from 'vitest';
import { packagesFor } from './platform-packages.ts';

const lockfile = {
  packages: {
    '': { version: '0.1.0' },
    'node_modules/tool': { version: '1.0.0' },
    'node_modules/@tool/linux-x64-gnu': {
      version: '1.0.0',
      optional: true,
      os: ['linux'],
      cpu: ['x64'],
      libc: ['glibc'],
    },
    'node_modules/@tool/linux-x64-musl': {
      version: '1.0.0',
      optional: true,
      os: ['linux'],
      cpu: ['x64'],
      libc: ['musl'],
    },
    'node_modules/@tool/darwin-arm64': { version: '1.0.0', optional: true, os: ['darwin'], cpu: ['arm64'] },
    'node_modules/@tool/wasm': { version: '1.0.0', optional: true, cpu: ['wasm32'] },
    'node_modules/wasm-helper': { version: '2.0.0', optional: true },
    'node_modules/other/node_modules/static-x64': {
      version: '3.0.0',
      optional: true,
      os: ['linux'],
      cpu: ['x64'],
    },
  },
};

test('the native packages of a platform are those that npm should have installed', () => {
  const specs = (os: string, cpu: string, libc: string): readonly string[] =>
    packagesFor(lockfile, { os, cpu, libc }).map(({ spec }) => spec);
  expect(specs('linux', 'x64', 'glibc')).toEqual(['@tool/linux-x64-gnu@1.0.0', 'static-x64@3.0.0']);
  expect(specs('linux', 'x64', 'musl')).toEqual(['@tool/linux-x64-musl@1.0.0', 'static-x64@3.0.0']);
  expect(specs('darwin', 'arm64', '')).toEqual(['@tool/darwin-arm64@1.0.0']);
  expect(specs('freebsd', 'x64', '')).toEqual([]);
});
