import { readdir, readFile, readlink } from 'node:fs/promises';

const LISTENING = '0A';

interface ListeningSocket {
  readonly inode: string;
  /** As the kernel writes it: address and port in hexadecimal. */
  readonly local: string;
}

async function listening(pid: number, table: 'tcp' | 'tcp6'): Promise<readonly ListeningSocket[]> {
  const text = await readFile(`/proc/${pid}/net/${table}`, 'utf8').catch(() => '');
  return text
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === LISTENING)
    .map((fields) => ({ local: fields[1]!, inode: fields[9]! }));
}

/** Inodes of the sockets that a process has open. */
async function socketsOf(pid: number): Promise<ReadonlySet<string>> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder).catch(() => []);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? []));
}

function portOf(local: string): number {
  return Number.parseInt(local.slice(local.lastIndexOf(':') + 1), 16);
}

/**
 * TCP ports on which a process listens besides those it was given. None where the kernel does not tell: then only what
 * declares its addresses is known.
 */
export async function foreignPorts(pid: number, given: readonly number[]): Promise<readonly number[]> {
  const own = await socketsOf(pid);
  const sockets = [...(await listening(pid, 'tcp')), ...(await listening(pid, 'tcp6'))];
  const ports = sockets.filter(({ inode }) => own.has(inode)).map(({ local }) => portOf(local));
  return [...new Set(ports)].filter((port) => !given.includes(port)).toSorted((a, b) => a - b);
}
