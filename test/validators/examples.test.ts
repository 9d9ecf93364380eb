import { execFileSync } from 'node:child_process';
import { access } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { validatorConformance } from '@haptic/core/testing';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { onCleanup } from '../haproxy/cleanup.ts';
import { until } from '../haproxy/until.ts';
import { candidateOf } from './candidate.ts';
import { startPlugin } from './start-plugin.ts';
import { socketPath } from './test-validator.ts';

const folder = join(import.meta.dirname, '../../examples/validators');
const examples: Readonly<Record<string, readonly [program: string, script: string]>> = {
  typescript: [process.execPath, join(folder, 'typescript/main.ts')],
  python: ['python3', join(folder, 'python/validator.py')],
};

/** Short, so that a stalled request is soon given up. */
const stallMs = 300;

const samples = {
  valid: { path: 'haproxy.cfg', content: 'backend a\n  server s 10.0.0.1:443 ssl verify required\n' },
  warning: { path: 'haproxy.cfg', content: 'backend a\n  http-reuse always\n' },
  error: { path: 'haproxy.cfg', content: 'backend a\n  server s 10.0.0.1:443 ssl verify none\n' },
};

function isMissing(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
}

async function start(name: string): Promise<string> {
  const [program, script] = examples[name]!;
  const path = await socketPath();
  const running = execa(program, [script, path], {
    env: { REQUEST_MS: String(stallMs) },
    reject: false,
    timeout: 50_000,
  });
  onCleanup(async () => {
    running.kill();
    const { exitCode, stderr } = await running;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await expect(access(path), 'the socket goes with its validator').rejects.toThrow('ENOENT');
  });
  await until(() => access(path).then(() => true), { what: `${name} listens` });
  return path;
}

describe.each(Object.keys(examples))('the example in %s', (name) => {
  const missing = isMissing(examples[name]![0]);
  const file = samples.valid;
  let path: string;
  beforeAll(async () => {
    if (!missing) path = await start(name);
  });

  const target = async (): Promise<Socket> => connect({ path });
  const options = { timeoutMs: 2_000, quietMs: 50, file, samples, stallMs };
  for (const check of validatorConformance(target, options)) {
    test.skipIf(missing)(check.name, () => check.run());
  }

  test.skipIf(missing)('judges for the plugin', async () => {
    const validator = { name: 'policy', socketPath: path, files: ['haproxy.cfg'] };
    const { judge } = await startPlugin();
    const verdictOn = ({ path, content }: typeof file): ReturnType<typeof judge> =>
      judge(candidateOf({ [path]: content }, validator));
    expect(await verdictOn(samples.valid)).toEqual({ kind: 'passed', findings: [] });
    const finding = { judge: 'policy', phase: 'external', path: 'haproxy.cfg', line: 2 };
    expect(await verdictOn(samples.warning)).toEqual({
      kind: 'passed',
      findings: [
        {
          ...finding,
          severity: 'warning',
          column: 3,
          message: 'idle connections are shared between clients',
        },
      ],
    });
    expect(await verdictOn(samples.error)).toEqual({
      kind: 'refused',
      findings: [
        { ...finding, severity: 'error', column: 29, message: "a server's certificate has to be verified" },
      ],
    });
  });
});
