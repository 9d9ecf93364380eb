import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';

const root = join(import.meta.dirname, '../..');

async function validate(binary: string, ...flags: readonly string[]): Promise<unknown> {
  const program = ['--conditions=source', join(root, 'cli/src/main.ts'), 'validate'];
  const args = [...program, '--output', 'json', '--haproxy', binary, ...flags];
  const { stdout } = await execa(process.execPath, args, { cwd: root, reject: false });
  return JSON.parse(stdout) as unknown;
}

/** Every setting of the libraries otherwise than they have it: their tests are part of an operator's configuration. */
const OPERATORS = `
apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata: { name: operator }
spec:
  tenancy: { hosts: strict }
  settings:
    listeners: { i80: { bind: '127.0.0.1:8080' }, i81: { bind: ':8081' } }
    readiness: { bind: ':8405' }
    timeouts: { connect: 1s, client: 2s, server: 3s, queue: 4s, tunnel: 5s, httpRequest: 6s, httpKeepAlive: 7s }
    hardStopAfter: 1m
    spareBackends: 0
    accessLog: true
    luaMemory: 512
    ingress: { listeners: [i81] }
`;

const allPassed = { passed: 4, failed: 0, skipped: 0, unjudged: 0 };

forEachVersion((haproxy) => {
  test("the libraries pass their own tests, HAProxy's check and answers included", async () => {
    expect(await validate(haproxy.binary)).toMatchObject(allPassed);
  });

  test('they pass them whatever an operator has set', async () => {
    const folder = await tempDir();
    await writeFile(join(folder, 'config.yaml'), OPERATORS);
    expect(await validate(haproxy.binary, '--config', folder)).toMatchObject(allPassed);
  });
});
