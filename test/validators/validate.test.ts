import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { haptic, type Result } from '../e2e/haptic-process.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { answer, frame, socketPath, startValidator } from './test-validator.ts';

const config = (socket: string, more = ''): string => `apiVersion: haproxy-haptic.org/v1alpha1
kind: HAProxyTemplateConfig
metadata:
  name: main
spec:
  validators:
    - name: policy
      socketPath: ${socket}
      files: ['haproxy.cfg']
${more}`;

interface Report {
  readonly failed: number;
  readonly tests: readonly {
    readonly status: string;
    readonly reason?: string;
    readonly assertions: readonly object[];
  }[];
  readonly validators: readonly object[];
}

forEachVersion(
  ({ binary }) => {
    async function validate(spec: string, ...args: string[]): Promise<Result & { readonly report: Report }> {
      const folder = join(await tempDir(), 'config');
      await mkdir(folder);
      await writeFile(join(folder, 'main.yaml'), spec);
      const flags = ['--config', folder, '--haproxy', binary, '--output', 'json', ...args];
      const result = await haptic(['validate', ...flags]);
      return { ...result, report: JSON.parse(result.stdout || '{}') as Report };
    }

    test('haptic validate asks declared validators about every render', async () => {
      const { socketPath, requests } = await startValidator();
      const { exitCode, report } = await validate(config(socketPath));
      expect(exitCode).toBe(0);
      expect(report.validators).toEqual([{ name: 'policy', status: 'reachable' }]);
      expect(requests).toHaveLength(report.tests.length);
      expect(requests[0]!.files).toMatchObject([{ path: 'haproxy.cfg' }]);
      expect(requests[0]!.files[0]!.content).toContain('frontend');
    });

    test('what a validator refuses fails, in its name and place', async () => {
      const place = { path: 'haproxy.cfg', line: 2, column: 1, message: 'not like this' };
      const { socketPath } = await startValidator({
        asked: (socket) => socket.write(frame(answer([place]))),
      });
      const { exitCode, stdout, report } = await validate(config(socketPath));
      expect(exitCode).toBe(1);
      expect(report.failed).toBe(report.tests.length);
      expect(stdout).toContain('policy: haproxy.cfg:2: not like this');
    });

    test('a validator that does not run has not judged, unless it is left out by its name', async () => {
      const missing = await socketPath();
      const absent = await validate(config(missing));
      expect(absent.exitCode).toBe(1);
      const problem = `there is no socket ${missing}`;
      expect(absent.report.validators).toEqual([{ name: 'policy', status: 'not judged', problem }]);
      const skipped = await validate(config(missing), '--skip-validator', 'policy');
      expect(skipped.exitCode).toBe(0);
      expect(skipped.report.validators).toEqual([{ name: 'policy', status: 'skipped' }]);
      const misspelt = await validate(config(missing), '--skip-validator', 'polcy');
      expect(misspelt.exitCode).toBe(2);
      expect(misspelt.stderr).toContain('no validator "polcy", did you mean "policy"?');
    });

    test('a declaration that is wrong is an error with its place', async () => {
      const { exitCode, stderr } = await validate(config('relative.sock', '      timeoutMS: 5\n'));
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/main\.yaml:8:\d+: validators\.0\.socketPath: expected the absolute path/);
      expect(stderr).toMatch(/main\.yaml:10:\d+: .*unknown key "timeoutMS", did you mean "timeoutMs"\?/);
    });
  },
  ['3.4'],
);
