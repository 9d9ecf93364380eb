import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parentGone, runAgent } from '@haptic/agent';
import { jsonLog } from './json-log.ts';

/** The agent as a process of its own, which can be told to kill itself at the n-th time of a step. */
const { values } = parseArgs({
  options: {
    'base-dir': { type: 'string', default: '' },
    'socket-dir': { type: 'string', default: '' },
    'token-file': { type: 'string', default: '' },
    listen: { type: 'string', default: '' },
    'reload-interval-min': { type: 'string', default: '0' },
    'reload-timeout': { type: 'string', default: '20000' },
    'longest-response': { type: 'string', default: '30000' },
    'exit-with-parent': { type: 'boolean', default: false },
    'kill-at': { type: 'string', default: '' },
    'kill-worker-at': { type: 'string', default: '' },
    'kill-master-at': { type: 'string', default: '' },
  },
});

const seen = new Map<string, number>();

/** Whether this is the n-th time of the step that `step:n` names. */
function isAt(step: string, wanted: string): boolean {
  const [name, count = '1'] = wanted.split(':');
  return step === name && seen.get(step) === Number(count);
}

function pidIn(folder: string, file: string, field: 'pid' | 'master'): number {
  // The last line counts.
  const line = readFileSync(join(folder, file), 'utf8').trim().split('\n').at(-1) ?? '';
  const record = JSON.parse(line) as Record<'pid' | 'master', number>;
  return record[field];
}

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.once('SIGINT', () => stop.abort());
if (values['exit-with-parent']) parentGone(process.stdin).addEventListener('abort', () => stop.abort());

await runAgent({
  baseDir: values['base-dir'],
  socketDir: values['socket-dir'],
  version: '0.0.0-test',
  listen: { socketPath: values.listen.replace(/^unix:/, '') },
  token: { file: values['token-file'] },
  reloadTimeout: Number.parseInt(values['reload-timeout']),
  reloadIntervalMin: Number.parseInt(values['reload-interval-min']),
  longestResponse: Number.parseInt(values['longest-response']),
  watchInterval: 200,
  signal: stop.signal,
  log: jsonLog({ program: 'agent' }),
  onStep: (step) => {
    seen.set(step, (seen.get(step) ?? 0) + 1);
    if (isAt(step, values['kill-at'])) process.kill(process.pid, 'SIGKILL');
    if (isAt(step, values['kill-worker-at']))
      process.kill(pidIn(values['base-dir'], 'worker.json', 'pid'), 'SIGKILL');
    if (isAt(step, values['kill-master-at']))
      process.kill(pidIn(values['socket-dir'], 'haproxy.json', 'master'), 'SIGKILL');
  },
});
process.exit(0);
