import { InvalidArgumentError, Option, type Command } from 'commander';
import type { ListenAddress } from '@haptic/agent';
import { mandatory } from './flags.ts';

/** Where the agent, HAProxy and its supervisor meet. */
export interface FolderFlags {
  readonly baseDir: string;
  readonly socketDir: string;
}

export function agentFolders(): Option[] {
  return [
    mandatory(new Option('--base-dir <dir>', "the folder of HAProxy's files").env('HAPTIC_BASE_DIR')),
    mandatory(new Option('--socket-dir <dir>', "the folder of HAProxy's sockets").env('HAPTIC_SOCKET_DIR')),
  ];
}

/** Where an agent listens, and what the two sides know each other by. */
export interface TransportFlags {
  readonly listen: ListenAddress;
  readonly tokenFile?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly tlsCa?: string;
}

export function agentTransport(): Option[] {
  return [
    new Option('--listen <address>', 'unix:PATH, or HOST:PORT; beyond the loopback interface only with TLS')
      .argParser(listenAddress)
      .default({ host: '127.0.0.1', port: 5555 }, '127.0.0.1:5555')
      .env('HAPTIC_LISTEN'),
    new Option('--token-file <file>', 'the bearer token that callers must show').env('HAPTIC_TOKEN_FILE'),
    new Option('--tls-cert <file>', 'TLS: the own certificate, PEM').env('HAPTIC_TLS_CERT'),
    new Option('--tls-key <file>', 'TLS: its key').env('HAPTIC_TLS_KEY'),
    new Option('--tls-ca <file>', "TLS: the authorities of the other side's certificates").env(
      'HAPTIC_TLS_CA',
    ),
  ];
}

export interface TransportSecrets {
  readonly tokenFile: string | undefined;
  readonly files: { readonly cert: string; readonly key: string; readonly ca: string } | undefined;
}

/** At least one of the two ways to know the other side; ends the command where there is none. */
export function transportSecrets(flags: TransportFlags, command: Command): TransportSecrets {
  const { tokenFile, tlsCert: cert, tlsKey: key, tlsCa: ca } = flags;
  if (cert !== undefined && key !== undefined && ca !== undefined)
    return { tokenFile, files: { cert, key, ca } };
  if (cert !== undefined || key !== undefined || ca !== undefined)
    command.error("error: the options '--tls-cert', '--tls-key' and '--tls-ca' belong together");
  if (tokenFile === undefined)
    command.error("error: required option '--token-file <file>' not specified, nor the three of TLS");
  return { tokenFile, files: undefined };
}

/** For children of a process that may be killed: it holds their standard input. */
export function exitWithParent(): Option {
  return new Option('--exit-with-parent', 'end when standard input closes').default(false);
}

function listenAddress(text: string): ListenAddress {
  if (!text.startsWith('unix:')) return hostAndPort(text, 'unix:PATH or HOST:PORT');
  const socketPath = text.slice('unix:'.length);
  if (socketPath === '') throw new InvalidArgumentError('expected unix:PATH or HOST:PORT');
  return { socketPath };
}

export function healthAddress(text: string): { readonly host: string; readonly port: number } {
  return hostAndPort(text, 'HOST:PORT');
}

function hostAndPort(text: string, expected: string): { readonly host: string; readonly port: number } {
  const found = /^(\[(?<v6>[0-9a-f:.]+)\]|(?<host>[^:[\]]+)):(?<port>\d{1,5})$/i.exec(text)?.groups;
  const port = Number(found?.['port']);
  if (found === undefined || port > 65_535) throw new InvalidArgumentError(`expected ${expected}`);
  return { host: found['v6'] ?? found['host']!, port };
}
