import { parseArgs } from 'node:util';
import { parentGone, runHaproxy } from '@haptic/agent';
import { jsonLog } from './json-log.ts';

/** The supervisor of HAProxy as a process of its own. */
const { values } = parseArgs({
  options: {
    haproxy: { type: 'string', default: 'haproxy' },
    'base-dir': { type: 'string', default: '' },
    'socket-dir': { type: 'string', default: '' },
    drain: { type: 'string', default: '1000' },
    'bootstrap-bind': { type: 'string', multiple: true, default: [] },
    'exit-with-parent': { type: 'boolean', default: false },
  },
});

const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());
process.once('SIGINT', () => stop.abort());

await runHaproxy({
  binary: values.haproxy,
  baseDir: values['base-dir'],
  socketDir: values['socket-dir'],
  drain: Number.parseInt(values.drain),
  signal: stop.signal,
  bootstrapBinds: values['bootstrap-bind'],
  ...(values['exit-with-parent'] && { parentGone: parentGone(process.stdin) }),
  log: jsonLog({ program: 'haproxy' }),
});
process.exit(0);
