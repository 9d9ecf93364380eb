import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

/** What an agent does at a moment of an apply. `trace`: writes down all moments. */
export const FAULT_KINDS = ['trace', 'kill-agent', 'kill-worker', 'kill-master', 'fill-disk'] as const;

export interface Fault {
  /** Another one for each order: the moments are counted from it on. */
  readonly id: number;
  readonly does: (typeof FAULT_KINDS)[number];
  /** `step` or `step:n`, its n-th time. */
  readonly at: string;
}

export interface Folders {
  readonly base: string;
  readonly sockets: string;
}

/** Looks at each moment into the file whether there is something to do. */
export class FaultInjector {
  readonly #file: string;
  readonly #folders: Folders;
  #seen = new Map<string, number>();
  #id = -1;

  constructor(file: string, folders: Folders) {
    this.#file = file;
    this.#folders = folders;
  }

  reach(step: string): void {
    const fault = this.#fault();
    if (fault === undefined) return;
    const count = (this.#seen.get(step) ?? 0) + 1;
    this.#seen.set(step, count);
    if (fault.does === 'trace') appendFileSync(`${this.#file}.trace`, `${step}:${count}\n`);
    else if (`${step}:${count}` === (fault.at.includes(':') ? fault.at : `${fault.at}:1`))
      this.#do(fault.does);
  }

  #fault(): Fault | undefined {
    let text: string;
    try {
      text = readFileSync(this.#file, 'utf8');
    } catch {
      return undefined;
    }
    const fault = JSON.parse(text) as Fault;
    if (fault.id !== this.#id) this.#seen = new Map();
    this.#id = fault.id;
    return fault;
  }

  #do(does: Exclude<Fault['does'], 'trace'>): void {
    const { base, sockets } = this.#folders;
    if (does === 'kill-agent') process.kill(process.pid, 'SIGKILL');
    else if (does === 'kill-worker') kill(newestWorker(masterPid(sockets)));
    else if (does === 'kill-master') kill(masterPid(sockets));
    else fillDisk(join(base, FILLER));
  }
}

/** What takes all the room, in the base folder. */
export const FILLER = 'filler/bytes';

function masterPid(sockets: string): number {
  // The last line counts.
  const line = readFileSync(join(sockets, 'haproxy.json'), 'utf8').trim().split('\n').at(-1) ?? '';
  return (JSON.parse(line) as { readonly master: number }).master;
}

/** Right after a reload the agent has another one on record. Undefined: it has none just now. */
function newestWorker(master: number): number | undefined {
  const children = readFileSync(`/proc/${master}/task/${master}/children`, 'utf8').trim();
  return children === '' ? undefined : Number(children.split(' ').at(-1));
}

function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It has just ended by itself.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Takes every byte, and every file that could still be made: a link needs no bytes. */
function fillDisk(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, '');
  const handle = openSync(path, 'a');
  const page = Buffer.alloc(4_096);
  untilFull(() => writeSync(handle, page));
  closeSync(handle);
  untilFull((count) => closeSync(openSync(`${path}-${count}`, 'wx')));
}

function untilFull(take: (count: number) => void): void {
  try {
    for (let count = 0; ; count += 1) take(count);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
