import { execa } from 'execa';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { until } from '../haproxy/until.ts';

/** No namespaces here, and why. */
export class NetworkUnavailable extends Error {
  override readonly name = 'NetworkUnavailable';
}

/** A parent that ended before its child asked to be told of it is not told of any more. */
const UNLESS_ORPHANED = '[ "$PPID" = "$0" ] && exec "$@"';

/**
 * A network namespace with addresses of its own: an API server takes no loopback addresses in EndpointSlices, and nothing in a
 * test may talk to anything but this machine. The addresses are of the range that is set aside for benchmarks (198.18.0.0/15).
 * Nothing of it has a name: the kernel removes it when its last process has ended, however that comes about.
 */
export class TestNetwork implements AsyncDisposable {
  /** Those of the inside; programs of a test listen there. */
  readonly addresses: readonly string[];
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess, addresses: readonly string[]) {
    this.#holder = holder;
    this.addresses = addresses;
  }

  /** @throws NetworkUnavailable where the user may not make one, or `ip` is missing. */
  static async open(count = 4): Promise<TestNetwork> {
    if (process.getuid?.() !== 0) throw new NetworkUnavailable('a network namespace takes root');
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo ready; exec cat >/dev/null'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    // Its input ends with this process, and then it ends, and with it the namespace and both ends of the link.
    holder.stdin.on('error', () => undefined);
    try {
      await Promise.race([once(holder.stdout, 'data'), failed(holder)]);
      const addresses = await link(holder.pid ?? 0, count);
      return new TestNetwork(holder, addresses);
    } catch (error) {
      holder.kill('SIGKILL');
      throw new NetworkUnavailable(`no network namespace: ${(error as Error).message}`, { cause: error });
    }
  }

  /** The command line that runs a program inside, for this process to spawn: it is killed when this process has ended. */
  inside(program: string, args: readonly string[]): readonly [program: string, args: readonly string[]] {
    const namespace = `--net=/proc/${this.#holder.pid}/ns/net`;
    const bound = ['setpriv', '--pdeathsig', 'KILL', '--', 'sh', '-c', UNLESS_ORPHANED, `${process.pid}`];
    return ['nsenter', [namespace, '--', ...bound, program, ...args]];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#holder.exitCode !== null || this.#holder.signalCode !== null) return;
    const closed = once(this.#holder, 'close');
    this.#holder.kill('SIGKILL');
    await closed;
  }
}

async function failed(child: ChildProcess): Promise<never> {
  const [cause] = await Promise.race([once(child, 'error'), once(child, 'close')]);
  throw cause instanceof Error ? cause : new Error('unshare is not permitted');
}

/** A pair of interfaces, one outside and one inside; returns the addresses of the inside. */
async function link(pid: number, count: number): Promise<readonly string[]> {
  const ip = (...args: readonly string[]) => execa('ip', args, { stdin: 'ignore' });
  const inside = (...args: readonly string[]) =>
    execa('nsenter', [`--net=/proc/${pid}/ns/net`, '--', 'ip', ...args], { stdin: 'ignore' });
  const address = freeNetwork();
  const name = `ht${pid}`;
  await ip('link', 'add', name, 'type', 'veth', 'peer', 'name', 'inner', 'netns', `${pid}`);
  await ip('address', 'add', `${address(1)}/26`, 'dev', name);
  await ip('link', 'set', name, 'up');
  const addresses = Array.from({ length: count }, (_, index) => address(index + 2));
  for (const own of addresses) await inside('address', 'add', `${own}/26`, 'dev', 'inner');
  await inside('link', 'set', 'lo', 'up');
  await inside('link', 'set', 'inner', 'up');
  // The kernel connects the two in its own time, and Node names interfaces only then.
  await until(() => networkInterfaces()[name] !== undefined, { what: 'the link is up' });
  return addresses;
}

/** A network of 64 addresses that this machine does not use; gives its addresses by number. */
function freeNetwork(): (index: number) => string {
  const used = new Set(
    Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address)),
  );
  for (;;) {
    const base = randomInt(2_048) * 64;
    const address = (index: number): string => {
      const host = base + index;
      return `198.${18 + (host >> 16)}.${(host >> 8) & 255}.${host & 255}`;
    };
    if (!used.has(address(1))) return address;
  }
}
