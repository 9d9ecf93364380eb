import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';

const root = join(import.meta.dirname, '../..');

forEachVersion((haproxy) => {
  test("the libraries pass their own tests, HAProxy's check and answers included", async () => {
    const program = ['--conditions=source', join(root, 'cli/src/main.ts')];
    const { stdout } = await execa(
      process.execPath,
      [...program, 'validate', '--output', 'json', '--haproxy', haproxy.binary],
      { cwd: root },
    );
    const report = JSON.parse(stdout) as object;
    expect(report).toMatchObject({ passed: 4, failed: 0, skipped: 0, unjudged: 0 });
  });
});
