import { execFileSync } from 'node:child_process';
import { chown, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { Deployer } from './deployer.ts';
import { Pod } from './pod.ts';
import type { World } from './world.ts';

const UID = 54_321;

/**
 * A root file system that cannot be written, where only the pod's folder can; an unknown user without capabilities and without a
 * home. The folder of HAProxy stays where it is: it may lie in a home that only its owner can enter.
 */
const CONFINE = `set -e
mkdir -p "$1/haproxy"
mount --bind "$2" "$1/haproxy"
mount -t tmpfs -o mode=755 tmpfs "$3"
mkdir -p "$2"
mount --bind "$1/haproxy" "$2"
mount --rbind "$1" "$1"
mount -o remount,bind,ro /
cd /
shift 3
exec setpriv --reuid ${UID} --regid ${UID} --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \\
  env -i PATH=/usr/bin:/bin "$@"
`;

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can become another user';
  try {
    execFileSync('unshare', ['--mount', 'setpriv', '--version'], { stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return `no mount namespaces: ${(error as Error).message.split('\n')[0]}`;
  }
}

forEachVersion(({ binary }) => {
  test('works for any user, without a home, on a root file system that cannot be written', async (context) => {
    const reason = whyNot();
    if (reason !== undefined) context.skip(reason);
    const pod = await Pod.create(binary);
    for (const path of [pod.dir, pod.socketDir, join(pod.dir, 'token')]) await chown(path, UID, UID);
    const haproxy = dirname(dirname(binary));
    pod.launcher = ['unshare', '--mount', 'sh', '-c', CONFINE, 'sh', pod.dir, haproxy, homedir()];
    await pod.startHaproxy();
    const agent = await pod.startAgent();
    const status = await readFile(`/proc/${agent.pid}/status`, 'utf8');
    expect(status).toMatch(new RegExp(`^Uid:\\s+${UID}\\s`, 'm'));
    expect(status).toMatch(/^CapEff:\s+0+$/m);
    expect(await readFile(`/proc/${agent.pid}/environ`, 'utf8')).not.toContain('HOME=');
    const mounts = await readFile(`/proc/${agent.pid}/mounts`, 'utf8');
    expect(mounts.split('\n').find((line) => line.split(' ')[1] === '/')).toMatch(/ ro[ ,]/);

    const deployer = new Deployer(pod);
    const app = { body: 'balance roundrobin\n', servers: { a: { port: 1 } } };
    const world: World = { backends: { app }, hosts: { 'a.test': 'app' } };
    expect((await deployer.deploy(world)).reply.body).toMatchObject({ outcome: 'reload' });
    const more = { ...world, hosts: { 'a.test': 'app', 'b.test': 'app' } };
    expect((await deployer.deploy(more)).reply.body).toMatchObject({ outcome: 'runtime' });
    expect((await request(pod.port, { path: '/fixed' })).status).toBe(200);
  });
});

test('the agent loads no client of Kubernetes', async () => {
  const hook = `import { registerHooks } from 'node:module';
registerHooks({ load(url, context, next) { process.stderr.write('LOADED ' + url + '\\n'); return next(url, context); } });`;
  const pod = await Pod.create('/nonexistent');
  pod.launcher = ['env', `NODE_OPTIONS=--import=data:text/javascript,${encodeURIComponent(hook)}`];
  const agent = await pod.startAgent();
  const loaded = agent.output().match(/^LOADED .*$/gm) ?? [];
  expect(loaded.some((line) => line.includes('/agent/src/start-agent.ts'))).toBe(true);
  expect(loaded.filter((line) => /kubernetes|client-node|\/kube\//.test(line))).toEqual([]);
});
