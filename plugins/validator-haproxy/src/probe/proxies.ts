import { BlockList, isIP } from 'node:net';
import { runtimeCommand } from './runtime-socket.ts';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** The rows of a table whose head begins with "# ". */
function rows(text: string, separator: string): readonly Readonly<Record<string, string>>[] {
  const lines = text.split('\n').filter((line) => line !== '');
  const head = lines.findIndex((line) => line.startsWith('# '));
  if (head === -1) throw new Error(`no table: ${text.slice(0, 200)}`);
  const names = lines[head]!.slice(2).split(separator);
  return lines.slice(head + 1).map((line) => {
    const fields = line.split(separator);
    return Object.fromEntries(names.map((name, index) => [name, fields[index] ?? '']));
  });
}

/** Sessions that each backend has taken since HAProxy started. */
export async function backendSessions(socket: string): Promise<ReadonlyMap<string, number>> {
  const table = rows(await runtimeCommand(socket, 'show stat -1 2 -1'), ',');
  return new Map(table.map(({ pxname = '', stot }) => [pxname, Number(stot)]));
}

function isElsewhere(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !loopback.check(address, family === 4 ? 'ipv4' : 'ipv6');
}

/** Takes every server out of service that is on another machine: what templates write by hand is not given to the stand-in. */
export async function disableServersElsewhere(socket: string): Promise<void> {
  const table = rows(await runtimeCommand(socket, 'show servers state'), ' ');
  const commands = table
    .filter(({ srv_addr: address = '' }) => isElsewhere(address))
    .map(({ be_name: backend, srv_name: server }) => `disable server ${backend}/${server}`);
  for (const command of commands) await runtimeCommand(socket, command);
}
