import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { parseSource } from '../../core/src/config/index.ts';
import { haptic } from '../e2e/haptic-process.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';

const page = await readFile(join(import.meta.dirname, '../../docs/validation-tests.md'), 'utf8');
const blocks = Array.from(page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm), ([, text]) => text!);

function problemsOf(test: object): readonly string[] {
  const spec = { revision: '1', validationTests: { t: test } };
  try {
    parseSource({ kind: 'library', name: 'l', spec }, []);
    return [];
  } catch (error) {
    return (error as Error).message.split('\n');
  }
}

test('the page shows tests that are left out as the schema wants them', () => {
  const spec = parse(blocks[1]!) as object;
  expect(parseSource({ kind: 'config', name: 'c', spec }, []).controller?.skipTests).toEqual([
    'ingress-routes',
  ]);
});

test('the page shows a request as the schema wants it', () => {
  expect(problemsOf({ assertions: [parse(blocks[2]!) as object] })).toEqual([]);
});

/** What a message lists after a mistake. */
function listed(message: string, pattern: RegExp): readonly string[] {
  return (pattern.exec(message)?.[1] ?? '').split(', ').map((word) => word.replaceAll('"', ''));
}

/** First cells of the rows below a heading. */
function rows(heading: string): readonly string[] {
  const section = page.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!;
  return Array.from(section.matchAll(/^\| `([^`]+)`/gm), ([, cell]) => cell!);
}

test('the page names every assertion, target and field, and no other', () => {
  const [type] = problemsOf({ assertions: [{ type: 'x' }] });
  const types = listed(type!, /expected one of (.*?)(?:, got|$)/);
  expect(rows('Assertions').toSorted()).toEqual(types.toSorted());
  const [target] = problemsOf({ assertions: [{ type: 'equals', target: 'x', expected: '' }] });
  const targets = listed(target!, /expected one of (.*)$/).map((form) =>
    form.replaceAll(/<(\w+)>/g, (_all, name: string) => name.toUpperCase()),
  );
  expect(rows('Targets').toSorted()).toEqual(targets.toSorted());
  const fields = problemsOf({ qqqqqqqqqqqq: 1, assertions: [{ type: 'haproxy_valid' }] });
  expect(rows('A test').toSorted()).toEqual(listed(fields[0]!, /known keys are (.*)$/).toSorted());
});

forEachVersion(({ binary }) => {
  test('the test of the page passes', async () => {
    const folder = await tempDir();
    await writeFile(join(folder, 'config.yaml'), blocks[0]!);
    const flags = [`--haproxy=${binary}`, `--config=${folder}`, '--test=few-cookies'];
    const { exitCode, stdout } = await haptic(['validate', ...flags]);
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^passed few-cookies \(mine\)\n/)]);
  });
});
