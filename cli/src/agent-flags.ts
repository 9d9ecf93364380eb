import { Option } from 'commander';
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

/** For children of a process that may be killed: it holds their standard input. */
export function exitWithParent(): Option {
  return new Option('--exit-with-parent', 'end when standard input closes').default(false);
}
