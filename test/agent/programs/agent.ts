import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { parentGone, runAgent } from '@haptic/agent';
import { cutRequests } from './cut-requests.ts';
import { FaultInjector } from './fault.ts';
import { jsonLog } from './json-log.ts';

/** The agent as a process of its own, which can be told what is to go wrong at a moment of an apply. */
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
    'remove-at-once': { type: 'boolean', default: false },
    faults: { type: 'string', default: '' },
  },
});

const { faults, 'base-dir': base, 'socket-dir': sockets } = values;
const injector = new FaultInjector(faults, { base, sockets });
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
  // Whoever is killed keeps nothing by itself.
  onListening: () => flushCompileCache(),
  onStep: (step) => {
    injector.reach(step);
    if (values['remove-at-once'] && step === 'changed') cutRequests(base, sockets);
  },
});
process.exit(0);
