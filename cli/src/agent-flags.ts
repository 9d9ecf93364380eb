import { Option } from 'commander';

/** Where the agent, HAProxy and its supervisor meet. */
export interface FolderFlags {
  readonly baseDir: string;
  readonly socketDir: string;
}

export function agentFolders(): Option[] {
  return [
    new Option('--base-dir <dir>', "the folder of HAProxy's files")
      .makeOptionMandatory()
      .env('HAPTIC_BASE_DIR'),
    new Option('--socket-dir <dir>', "the folder of HAProxy's sockets")
      .makeOptionMandatory()
      .env('HAPTIC_SOCKET_DIR'),
  ];
}

/** For children of a process that may be killed: it holds their standard input. */
export function exitWithParent(): Option {
  return new Option('--exit-with-parent', 'end when standard input closes').default(false);
}
