import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { haptic, place, root, start, untilServing } from '../e2e/haptic-process.ts';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { until } from '../haproxy/until.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { startController } from './controller.ts';
import { Pod } from './pod.ts';
import { renderedOf } from './rendered.ts';
import { AGENT, CONTROLLER, MountedSecret, tlsContents } from './tls-secret.ts';

/** It starts programs, one after the other. */
const LONG = { timeout: 240_000 };

forEachVersion(
  ({ binary }) => {
    test('haptic agent serves a controller over TLS, and agent state and health ask it', LONG, async () => {
      const pod = await Pod.create(binary);
      await pod.startHaproxy();
      const authority = await CertificateAuthority.create('fleet');
      const ofAgent = await MountedSecret.create(await tlsContents(authority, AGENT));
      const ofController = await MountedSecret.create(await tlsContents(authority, CONTROLLER));
      const address = `127.0.0.1:${await freePort()}`;
      const flags = (secret: MountedSecret): string[] => {
        const { cert, key, ca } = secret.files;
        return [`--listen=${address}`, `--tls-cert=${cert}`, `--tls-key=${key}`, `--tls-ca=${ca}`];
      };
      const folders = [`--base-dir=${pod.baseDir}`, `--socket-dir=${pod.socketDir}`];
      const program = ['--conditions=source', join(root, 'cli/bin/haptic.mjs')];
      const agent = start(
        process.execPath,
        [...program, 'agent', ...folders, ...flags(ofAgent)],
        await place(),
      );
      const state = (secret: MountedSecret, output = 'json') =>
        haptic(['agent', 'state', ...flags(secret), '--output', output, '--verify']);
      await untilServing(agent, () => agent.stdout().includes('the agent runs'));

      const controller = await startController({
        mode: 'static',
        pods: [{ name: 'pod', url: `https://${address}` }],
        tls: ofController.files,
      });
      await until(() => controller.fleet.facts().haproxyVersion, { deadlineMs: 30_000 });
      const health = () => haptic(['agent', 'health', ...flags(ofController)]);
      expect(await health()).toMatchObject({
        exitCode: 1,
        stdout: expect.stringContaining('nothing was applied yet'),
      });
      expect(await controller.deploy(renderedOf(pod.site('over TLS')))).toMatchObject([{ result: 'reload' }]);
      expect((await request(pod.port)).body.toString()).toBe('over TLS one');

      const asked = await state(ofController);
      expect(asked).toMatchObject({ exitCode: 0, stderr: '' });
      expect(JSON.parse(asked.stdout)).toMatchObject({
        inStep: true,
        tls: { authorities: [expect.any(String)] },
      });
      const read = await state(ofController, 'text');
      expect(read).toMatchObject({ exitCode: 0, stderr: '' });
      expect(read.stdout).toMatch(/^applied +[0-9a-f]{64}, generation 1$/m);
      expect(read.stdout).toMatch(/^in step +it runs what is applied$/m);
      expect(read.stdout).toMatch(/^TLS +[0-9a-f]{64}, trusts [0-9a-f]{64}$/m);
      expect(read.stdout).toMatch(/^drift +none$/m);
      expect(await health()).toMatchObject({ exitCode: 0 });
      await appendFile(join(pod.baseDir, 'current', 'maps', 'site.map'), 'else x\n');
      const drifted = await state(ofController, 'text');
      expect(drifted).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(
          /^drift +maps\/site\.map, worker: maps\/site\.map has 1 entries, expected 2$/m,
        ),
      });
      const own = await state(ofAgent);
      expect(own).toMatchObject({ exitCode: 2, stdout: '' });
      expect(own.stderr).toContain('the certificate is for "haptic-agent", the name of the other side');
      const stranger = await CertificateAuthority.create('stranger');
      const theirs = await tlsContents(stranger, CONTROLLER, { trusts: [authority] });
      const refused = await state(await MountedSecret.create(theirs));
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.stderr).toContain('the agent ended the connection');
    });
  },
  ['3.4'],
);
