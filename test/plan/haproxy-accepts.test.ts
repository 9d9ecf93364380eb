import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Rendered } from '@haptic/core/contract';
import { assemble } from '../../core/src/plan/assemble.ts';
import { PlanMemo } from '../../core/src/plan/memo.ts';
import { sha256 } from '../../core/src/controller/sha256.ts';
import {
  backend,
  base,
  mapContent,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../../core/src/testing/render-output.ts';
import { haproxyBinary, supportedVersions } from '../../tools/haproxy/index.ts';

const run = promisify(execFile);

/** Everything that the plan itself writes. */
function rendered(): Rendered {
  const servers = [
    server('pod-1', { keywords: ['check', 'inter', '2s', 'cookie', `a"b'c #\\$`], weight: 3 }),
    server('pod-2', {
      address: '2001:db8::1',
      port: 443,
      state: 'drain',
      keywords: ['ssl', 'verify', 'none'],
    }),
    server('pod-3', { state: 'maint', weight: 0 }),
  ];
  const late = backend('late', {
    body: 'balance leastconn\nhttp-request set-header X-A b\n',
    servers: [server('pod-1', { guid: '' })],
  });
  const frontend =
    'frontend http from base\n    bind 127.0.0.1:8080\n    use_backend %[req.hdr(host),map_str(maps/hosts.map)]\n';
  const output = renderOutput({
    pieces: [
      section('global', 'global\n    maxconn 100\n'),
      base,
      profiles,
      section('http', frontend),
      backend('ns_app_80', { body: 'balance leastconn\nhttp-request set-header X-A b\n', servers }),
      backend('ns:app.tcp-1', { mode: 'tcp' }),
      late,
      backend('x'.repeat(180)),
      backend('static', {
        body: 'stick-table type ip size 1k\ncompression algo gzip\n',
        servers: [server('a', { guid: 'sv:static:a' })],
      }),
    ],
    entries: [{ map: 'hosts', key: 'app.test', value: 'ns_app_80', provenance: provenanceOf('app') }],
  });
  const maps = { hosts: mapContent({ layer: 'host' }), spares: mapContent() };
  const without = { ...output, pieces: output.pieces.filter((piece) => piece !== late) };
  const { plan } = assemble(without, { maps }, new PlanMemo(sha256), { spareBackends: 2 });
  return assemble(output, { maps }, new PlanMemo(sha256), { spareBackends: 2, current: plan });
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-plan-'));
  const { files } = rendered();
  for (const { path } of files.entries) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), files.read(path));
  }
});
afterAll(() => rm(folder, { recursive: true }));

describe.each(supportedVersions)('HAProxy %s', (version) => {
  it('gets a spare backend for one that came late', () => {
    const { plan } = rendered();
    const [spare] = Object.entries(plan.backends).filter(([, { spareFor }]) => spareFor === 'late');
    expect(spare?.[0]).toMatch(/^spare-/);
    expect(Object.keys(plan.backends)).not.toContain('late');
  });

  it('accepts what the plan writes without a warning', async () => {
    const binary = await haproxyBinary(version);
    const args = ['-c', '-dr', '-dW', '-C', folder, '-f', 'haproxy.cfg'];
    const { stderr } = await run(binary, args, { timeout: 30_000 });
    expect(stderr).not.toMatch(/ALERT|WARNING/);
  });
});
