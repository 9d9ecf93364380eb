import { isReleaseOf } from './versions.ts';

/**
 * Suites to look in, the likeliest first. A suite that only adds to another one (experimental, backports) is read together
 * with it: the libraries come from there.
 */
export function suitesFor(minor: string): readonly (readonly string[])[] {
  const experimental = ['experimental', 'sid'];
  const backports = ['trixie-backports', 'trixie'];
  switch (minor) {
    case '3.0':
      return [['trixie'], ['sid']];
    case '3.2':
      return [['sid'], ['testing'], backports, experimental];
    default:
      return [experimental, ['sid'], ['testing'], backports];
  }
}

/** The versions in the output of `apt-cache madison`: `package | version | source`. */
export function parseMadison(output: string): readonly string[] {
  return output
    .split('\n')
    .map((line) => line.split('|')[1]?.trim() ?? '')
    .filter((version) => version !== '');
}

/** The versions of a branch, newest first. Good for the plain upstream-revision versions that one branch has. */
export function releasesOf(minor: string, versions: readonly string[]): readonly string[] {
  return versions
    .filter((version) => isReleaseOf(version, minor))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
}

/**
 * The libraries that a package needs, from its entry in `apt-cache show`. Only libraries count: what a service needs to be
 * installed and started (systemd, adduser) is nothing to a program that is run from a folder.
 */
export function libraryDependencies(entry: string): readonly string[] {
  return [...entry.matchAll(/^(?:Pre-)?Depends: (.*)$/gm)]
    .flatMap((field) => (field[1] ?? '').split(','))
    .map((alternatives) => /^\s*([a-z0-9+.-]+)/.exec(alternatives)?.[1] ?? '')
    .filter((name) => /^(?:lib|zlib1g$)/.test(name) && !name.startsWith('libc-gconv'));
}

/** An archive in the machine's own apt sources: a line of `apt-get indextargets` as `uri release component`. */
export function findMirror(targets: string, codename: string): string | undefined {
  const suites = new Set([codename, 'stable', 'oldstable', 'testing', 'unstable', 'sid']);
  for (const line of targets.split('\n')) {
    const [uri = '', release = '', component = ''] = line.trim().split(' ');
    if (component === 'main' && suites.has(release) && uri.includes('debian') && !uri.includes('security'))
      return uri;
  }
  return undefined;
}
