import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes in use when all garbage is gone. */
export function heapAfterCollection(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}
