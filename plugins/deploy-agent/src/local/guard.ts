import type { Layout } from '@haptic/agent/protocol';

/**
 * The last resort against an orphaned HAProxy: a shell that waits for the end of its standard input, which comes when our
 * process ends in whatever way. The supervisor sees the same and has a second to stop HAProxy; when it was killed too, this
 * kills the process group that it recorded. Then the private folder goes, which may hold keys. A shell, because it costs
 * nothing while it waits. The command line is compared since pids are used again.
 */
export const GUARD_SCRIPT = `
read -r _
if [ -f "$1" ]; then sleep 1; fi
master=$(sed -n 's/.*"master":\\([0-9]*\\).*/\\1/p' "$1" 2>/dev/null)
if [ -n "$master" ]; then
  if [ ! -d /proc/self ] || grep -aqF -- "$2" "/proc/$master/cmdline" 2>/dev/null; then
    kill -s KILL -- "-$master" 2>/dev/null
  fi
fi
rm -rf -- "$3"
`;

/** `$0` to `$3` of the script. */
export function guardArguments(paths: Layout, dir: string): string[] {
  return ['haptic-guard', paths.startRecord, paths.masterSocket, dir];
}
