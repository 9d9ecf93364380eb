import { expect, test } from 'vitest';
import { missingFlags } from './small-process.ts';

const none = { execArgv: [], nodeOptions: '' };

test('processes that live long start over once, with what their kind needs', () => {
  for (const command of ['agent', 'run']) {
    const flags = missingFlags(command, 'dist/main.js', none);
    expect(flags, command).not.toEqual([]);
    expect(missingFlags(command, 'dist/main.js', { ...none, execArgv: flags }), command).toEqual([]);
  }
  for (const command of ['up', 'render', '--help', 'constructor', undefined]) {
    expect(missingFlags(command, 'dist/main.js', none), command).toEqual([]);
  }
});

test('sources are read by WebAssembly, which lite mode does not have', () => {
  expect(missingFlags('agent', 'dist/main.js', none)).toContain('--lite-mode');
  expect(missingFlags('agent', 'src/main.ts', none)).not.toContain('--lite-mode');
});

test.each([
  [{ ...none, execArgv: ['--max-semi-space-size=64'] }],
  [{ ...none, execArgv: ['--max_semi_space_size=64'] }],
  [{ ...none, nodeOptions: ' --enable-source-maps  --max-semi-space-size=64' }],
])('what an operator has set stays: %j', (settings) => {
  expect(missingFlags('run', 'dist/main.js', settings)).toEqual([]);
});
