import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded before a program (`node --import 'instrument.ts?socket=PATH'`): steps the wall clock that it sees, and says how much memory it
 * uses when all garbage is gone. The monotonic clock goes on as it did, as on a machine whose time is set.
 */
const socket = new URL(import.meta.url).searchParams.get('socket');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const Real = Date;
let step = 0;

globalThis.Date = class extends Real {
  static override now(): number {
    return Real.now() + step;
  }

  constructor(...args: readonly []) {
    if (args.length === 0) super(Real.now() + step);
    else super(...args);
  }
} as DateConstructor;

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://instrument');
  if (url.pathname === '/step') step = Number(url.searchParams.get('ms'));
  collect();
  collect();
  response.setHeader('connection', 'close').end(String(process.memoryUsage().heapUsed));
});
if (socket !== null) server.listen(socket).unref();
