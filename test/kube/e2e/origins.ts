import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { NetworkUnavailable, TestNetwork } from '../../cluster/index.ts';
import { onCleanup } from '../../haproxy/cleanup.ts';

/** Servers at addresses that an API server takes in EndpointSlices; each answers with its own address. */
export interface Origins {
  readonly addresses: readonly string[];
  readonly port: number;
}

const PORT = 8080;

const SERVER = `
  require('node:http')
    .createServer((request, response) => response.end(request.socket.localAddress))
    .listen(${PORT}, '0.0.0.0', () => console.log('up'));
`;

/** Why there are none here; undefined where there can be. */
export async function whyNoOrigins(): Promise<string | undefined> {
  try {
    await using _network = await TestNetwork.open(1);
    return undefined;
  } catch (error) {
    if (error instanceof NetworkUnavailable) return error.message;
    throw error;
  }
}

/** End with the test. */
export async function startOrigins(count = 2): Promise<Origins> {
  const network = await TestNetwork.open(count);
  onCleanup(() => network[Symbol.asyncDispose]());
  const [program, args] = network.inside(process.execPath, ['-e', SERVER]);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  onCleanup(async () => {
    const closed = once(child, 'close');
    if (child.kill('SIGKILL')) await closed;
  });
  await once(child.stdout, 'data');
  return { addresses: network.addresses, port: PORT };
}
