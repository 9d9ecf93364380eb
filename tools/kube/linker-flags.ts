import { minorOf, type Program } from './programs.ts';

/**
 * Flags that make a small program which knows its version: a plain build of Kubernetes calls itself v0.0.0-master, and an API
 * server of that version refuses to start.
 */
export function linkerFlags(program: Program, version: string): string {
  const flags = ['-s', '-w'];
  for (const variable of program.versionVariables) {
    if (program.requires === 'k8s.io/kubernetes') {
      const [major = '', minor = ''] = minorOf(version).split('.');
      const values = { gitVersion: `v${version}`, gitMajor: major, gitMinor: minor, gitTreeState: 'clean' };
      for (const [name, value] of Object.entries(values)) flags.push('-X', `${variable}.${name}=${value}`);
    } else {
      flags.push('-X', `${variable}.version=v${version}`);
    }
  }
  return flags.join(' ');
}
