import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a request asks for. */
export interface Probe {
  readonly host: string;
  readonly path: string;
}

/** How often a backend is asked at a time, and at most. */
const AT_ONCE = 8;
const MOST = 64;

/**
 * What is answered to this, in words, with all servers that answer. `expected`: how many that may be, by backend; balancing
 * algorithms choose by chance.
 */
export async function served(
  port: number,
  probe: Probe,
  expected: (backend: string) => number,
): Promise<string> {
  const found = new Set(await ask(port, probe, 1));
  const [, backend = ''] = / of ([^/ ]*)\//.exec([...found].join()) ?? [];
  for (let asked = 0; asked < MOST && found.size < expected(backend); asked += AT_ONCE)
    for (const answer of await ask(port, probe, AT_ONCE)) found.add(answer);
  return `${probe.host}${probe.path} ${[...found].toSorted().join(', ')}`;
}

/** Over one connection, without waiting for answers between. */
async function ask(port: number, { host, path }: Probe, times: number): Promise<readonly string[]> {
  const socket = connect({ host: '127.0.0.1', port });
  await once(socket, 'connect');
  const last = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
  socket.write(last.replace('connection: close\r\n', '').repeat(times - 1) + last);
  const answers = (await text(socket)).split(/(?=HTTP\/1\.1 \d{3} )/);
  return answers.filter((answer) => answer !== '').map(words);
}

/** Who answered, what HAProxy added to the answer, and what it added to the request. */
function words(answer: string): string {
  const header = (name: string): string => new RegExp(`^${name}: (.*?)\r$`, 'im').exec(answer)?.[1] ?? '';
  const [, origin = '-'] = /"origin":"(.*?)"/.exec(answer) ?? [];
  const [, added = '-'] = /"x-a","(.*?)"/.exec(answer) ?? [];
  return `${answer.slice(9, 12)} of ${header('x-served')} ${origin} ${header('x-leaf')} ${added}`;
}
