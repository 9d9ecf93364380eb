import { LIMITS } from '../protocol/index.ts';

/** Why a path cannot be a file of the tree; undefined when it can. */
export function pathProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > LIMITS.path) return `is longer than ${LIMITS.path} bytes`;
  if (/[\x00-\x1f\x7f\\]/.test(path)) return 'has a control character or a backslash';
  if (path.startsWith('/')) return 'is absolute; expected a path relative to the tree';
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..')
      return 'is not canonical: it has an empty, `.` or `..` part';
    if (Buffer.byteLength(part) > 255) return 'has a name of more than 255 bytes';
  }
  return undefined;
}

/** Everything that is wrong with a set of paths, by position: bad ones, doubles, and a file where another needs a folder. */
export function setProblems(
  paths: readonly string[],
): { readonly index: number; readonly message: string }[] {
  const problems: { index: number; message: string }[] = [];
  const seen = new Set<string>();
  const folders = new Set(paths.flatMap(parents));
  for (const [index, path] of paths.entries()) {
    const message = seen.has(path)
      ? 'appears twice'
      : folders.has(path)
        ? 'is a file here and a folder of another file'
        : pathProblem(path);
    if (message !== undefined) problems.push({ index, message: `${JSON.stringify(path)} ${message}` });
    seen.add(path);
  }
  return problems;
}

/** The folders above a path, nearest last. */
export function parents(path: string): string[] {
  const folders: string[] = [];
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    folders.push(path.slice(0, slash));
  }
  return folders;
}
