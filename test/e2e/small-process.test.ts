import { join } from 'node:path';
import { expect, test } from 'vitest';
import { place, root, start } from './haptic-process.ts';

/** Told each time that the process begins. */
const TELL = `data:text/javascript,process.stderr.write(JSON.stringify([process.pid, process.execArgv, process.argv.slice(2)]) + "\\n")`;

test('a controller is one process that starts over once, with what keeps its memory small', async () => {
  const at = await place();
  const settings = ['--conditions=source', `--import=${TELL}`];
  const args = ['run', `--kubeconfig=${join(at.dir, 'none')}`, '--namespace=x'];
  const running = start(process.execPath, [...settings, join(root, 'cli/src/main.ts'), ...args], at);
  expect(await running.ended).toBe(2);
  const [first, second, ...words] = running.stderr().split('\n');
  expect(JSON.parse(first!)).toEqual([running.pid, settings, args]);
  expect(JSON.parse(second!)).toEqual([running.pid, [...settings, '--max-semi-space-size=8'], args]);
  // Only then it does what it is for.
  expect(words.join('\n')).toContain(join(at.dir, 'none'));
});
