import { readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { validatorsSchema } from '@haptic/validator-external';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { decodeResponse } from '../../plugins/validator-external/src/response.ts';

const root = join(import.meta.dirname, '../..');
const page = await readFile(join(root, 'docs/validators.md'), 'utf8');

function blocks(language: string): string[] {
  const fences = page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'));
  return Array.from(fences, ([, text]) => text!);
}

test('the page declares a validator as the schema wants it', () => {
  const { validators } = parse(blocks('yaml')[0]!) as { validators: unknown };
  expect(validatorsSchema.parse(validators)).toEqual(validators);
});

test('the page shows a request and an answer of the protocol', () => {
  const [request, answer] = blocks('json');
  expect(JSON.parse(request!)).toMatchObject({ protocol_version: 1, files: [{}, { kind: 'data' }] });
  expect(decodeResponse(Buffer.from(answer!)).result).toBe('error');
});

test('the page shows the program that runs the kit', async () => {
  expect(blocks('ts')).toEqual([await readFile(join(root, 'examples/validators/conformance.ts'), 'utf8')]);
});

forEachVersion(
  ({ binary }) => {
    test('the commands of the page do what it says', async () => {
      const script = [
        'set -euo pipefail',
        "trap 'kill $(jobs -p) 2> /dev/null || true' EXIT",
        ...blocks('sh'),
      ];
      const { stdout, stderr, exitCode } = await execa('bash', ['-c', script.join('\n')], {
        cwd: root,
        env: {
          PATH: [join(root, 'node_modules/.bin'), process.env['PATH']].join(delimiter),
          TMPDIR: await tempDir(),
          HAPTIC_HAPROXY: binary,
        },
        reject: false,
        timeout: 55_000,
      });
      expect({ exitCode, stderr, stdout }).toMatchObject({ exitCode: 0, stderr: '' });
      const kit = [...stdout.matchAll(/^ℹ (pass|fail) (\d+)$/gm)].map(
        ([, word, count]) => `${word} ${count}`,
      );
      expect(kit).toEqual(['pass 17', 'fail 0', 'pass 17', 'fail 0']);
      const summaries = stdout.split('\n').filter((line) => /^(?:validator|exit code) /.test(line));
      expect(summaries).toEqual([
        'validator policy: reachable',
        expect.stringMatching(/^validator policy: not judged: there is no socket .*--skip-validator policy$/),
        'exit code 1',
        'validator policy: skipped',
      ]);
    });
  },
  ['3.4'],
);
