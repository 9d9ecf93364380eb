import { randomBytes } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Bug,
  Cancelled,
  MAIN_CONFIG,
  Refused,
  Retry,
  type ProbeAnswer,
  type ProbeSite,
  type Rendered,
  type RouteRequest,
  type StandIn,
} from '@haptic/core/contract';
import { parseMessages } from '../messages.ts';
import type { Staging } from '../staging.ts';
import { foreignPorts } from './foreign-listeners.ts';
import { startProcess, type HaproxyProcess } from './haproxy-process.ts';
import { LOOPBACK, releasePorts, type HeldPort } from './held-ports.ts';
import { backendSessions, disableServersElsewhere } from './proxies.ts';
import { runtimeCommand } from './runtime-socket.ts';
import { sendRequest } from './send-request.ts';

/** A started HAProxy answers within milliseconds; a machine that does much else takes longer. */
const START_MS = 20_000;
const POLL_MS = 3;

/** What the kernel takes as the name of a socket, less what HAProxy adds to it while it starts. */
const LONGEST_SOCKET = 92;

export interface SiteParts {
  readonly binary: string;
  readonly maxOutput: number;
  readonly staging: Staging;
  /** Of sockets; nobody else may enter it. */
  readonly folder: string;
  /** Where it is to listen. */
  readonly ports: readonly HeldPort[];
  readonly standIn: StandIn;
  /** Called when nothing is left of the site. */
  readonly disposed: () => void;
}

/** One HAProxy on the files of one render, which lasts until the site is disposed. */
export class HaproxySite implements ProbeSite {
  readonly binds: readonly string[];
  readonly workerSocket: string;
  readonly standIn: StandIn;
  readonly #parts: SiteParts;
  /** Ours beside those of the files, which need not have any. */
  readonly #socket: string;
  readonly #extra: string;
  readonly #over = Promise.withResolvers<void>();
  #running: Promise<unknown> | undefined;
  #process: HaproxyProcess | undefined;
  #asking: Promise<unknown> = Promise.resolve();

  constructor(parts: SiteParts) {
    const id = randomBytes(4).toString('hex');
    this.#parts = parts;
    this.binds = parts.ports.map(({ port }) => `${LOOPBACK}:${port}`);
    this.workerSocket = join(parts.folder, `w-${id}`);
    this.#socket = join(parts.folder, `c-${id}`);
    this.#extra = join(parts.folder, `x-${id}.cfg`);
    this.standIn = parts.standIn;
  }

  async start(rendered: Rendered, signal: AbortSignal): Promise<void> {
    if (this.#running !== undefined) throw new Bug('a site starts once');
    if (this.#socket.length > LONGEST_SOCKET)
      throw new Retry(`the name of the temp folder is too long for sockets: ${this.#parts.folder}`);
    await writeFile(this.#extra, `global\n    stats socket ${asWord(this.#socket)} mode 600 level admin\n`, {
      mode: 0o600,
    });
    const started = Promise.withResolvers<void>();
    this.#running = this.#run(rendered, signal, started.resolve).catch((error: unknown) => {
      started.reject(error);
    });
    await started.promise;
  }

  ask(bind: number, request: RouteRequest, signal: AbortSignal): Promise<ProbeAnswer> {
    const asked = this.#asking.then(() => this.#ask(bind, request, signal));
    this.#asking = asked.catch(() => undefined);
    return asked;
  }

  async backends(): Promise<readonly string[]> {
    return [...(await this.#sessions()).keys()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    releasePorts(this.#parts.ports);
    await this.#process?.kill();
    this.#over.resolve();
    await this.#running;
    for (const path of [this.workerSocket, this.#socket, this.#extra]) await rm(path, { force: true });
    this.#parts.disposed();
  }

  /** The staged tree is there for as long as HAProxy runs in it. */
  async #run({ files }: Rendered, signal: AbortSignal, onStarted: () => void): Promise<void> {
    await this.#parts.staging.withTree(files, signal, async (tree) => {
      try {
        await this.#launch(tree, signal);
        onStarted();
        await this.#over.promise;
      } finally {
        await this.#process?.kill();
      }
    });
  }

  async #launch(tree: string, signal: AbortSignal): Promise<void> {
    const { binary, maxOutput, ports } = this.#parts;
    const process = await startProcess({
      binary,
      args: ['-db', '-dr', '-C', tree, '-f', MAIN_CONFIG, '-f', this.#extra],
      maxOutput,
    }).catch((error: unknown) => {
      throw new Retry(`cannot run ${binary}: ${(error as Error).message}`, { cause: error });
    });
    this.#process = process;
    await this.#untilReady(process, signal);
    releasePorts(ports);
    const given = ports.map(({ port }) => port);
    const foreign = await foreignPorts(process.pid, given);
    if (foreign.length > 0)
      throw new Refused(
        `HAProxy listens on port ${foreign.join(', ')} as well, which no {% bind %} of the templates says`,
      );
    await disableServersElsewhere(this.#socket);
  }

  async #untilReady(process: HaproxyProcess, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + START_MS;
    for (;;) {
      if (signal.aborted) throw new Cancelled('the test was called off', { cause: signal.reason });
      if (!process.running) throw new Refused(`HAProxy does not start: ${lastWords(process.output())}`);
      const answer = await runtimeCommand(this.#socket, 'show version').catch(() => undefined);
      if (answer !== undefined) return;
      if (performance.now() > deadline) throw new Retry(`HAProxy was not up after ${START_MS} ms`);
      await delay(POLL_MS);
    }
  }

  async #ask(bind: number, request: RouteRequest, signal: AbortSignal): Promise<ProbeAnswer> {
    const before = await this.#sessions();
    const answer = await sendRequest(this.#parts.ports[bind]!.port, request, signal);
    if (signal.aborted) throw new Cancelled('the test was called off', { cause: signal.reason });
    const after = await this.#sessions();
    const backends = [...after].filter(([name, count]) => count > (before.get(name) ?? 0));
    return { ...answer, backends: backends.map(([name]) => name) };
  }

  async #sessions(): Promise<ReadonlyMap<string, number>> {
    try {
      return await backendSessions(this.#socket);
    } catch (error) {
      if (this.#process?.running === false)
        throw new Refused(`HAProxy ended: ${lastWords(this.#process.output())}`);
      throw error;
    }
  }
}

/** One word of HAProxy's configuration. */
function asWord(path: string): string {
  return path.replaceAll(/[\\\s"'#]/g, String.raw`\$&`);
}

function lastWords(output: string): string {
  const messages = parseMessages(output);
  const alerts = messages.filter(({ level }) => level === 'alert');
  return (alerts.length > 0 ? alerts : messages.slice(-3)).map(({ text }) => text).join('\n');
}
