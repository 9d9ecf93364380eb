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
    'exit-with-parent': { type: 'boolean', default: false },
    'kill-at': { type: 'string', default: '' },
  },
});

const [killStep, killCount = '1'] = values['kill-at'].split(':');
let seen = 0;

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
  watchInterval: 200,
  signal: stop.signal,
  log: jsonLog({ program: 'agent' }),
  onStep: (step) => {
    if (step !== killStep) return;
    seen += 1;
    if (seen === Number(killCount)) process.kill(process.pid, 'SIGKILL');
  },
});
process.exit(0);
