import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { describeEnd, type ProcessResult } from './process/run-process.ts';

/** The absolute path of the program. @throws Error that says where it was looked for and how to mend it. */
export async function findBinary(name: string, path = process.env['PATH'] ?? ''): Promise<string> {
  const candidates = name.includes('/')
    ? [resolve(name)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name));
  for (const candidate of candidates) {
    if (await isExecutable(candidate)) return candidate;
  }
  const where = name.includes('/')
    ? `${candidates[0]} is not an executable file`
    : `'${name}' is in no folder of PATH (${path})`;
  throw new Error(
    `no HAProxy to check configurations with: ${where}. ` +
      "Install HAProxy 3.0, 3.2 or 3.4, or name its program with --haproxy, HAPTIC_HAPROXY or this plugin's option 'binary'.",
  );
}

/** The version in what `haproxy -v` printed. @throws Error when the program is not HAProxy or does not run. */
export function readVersion(binary: string, result: ProcessResult): string {
  const version = /^HAProxy version (\d\S*)/m.exec(result.stdout)?.[1];
  if (result.kind === 'ended' && result.code === 0 && version !== undefined) return version;
  const words = `${result.stdout}${result.stderr}`.trim().split('\n').slice(-3).join(' | ');
  throw new Error(`${binary} does not answer -v as HAProxy does: ${words || describeEnd(result)}`);
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
