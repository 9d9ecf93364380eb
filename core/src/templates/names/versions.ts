import type { TemplateHelper } from '../../contract/index.ts';
import { asText } from './arguments.ts';

function parts(version: string): number[] {
  const found = /^v?(\d{1,9}(?:\.\d{1,9})*)/.exec(version);
  if (found === null) throw new Error(`${JSON.stringify(version.slice(0, 60))} is no version`);
  return found[1]!.split('.').map(Number);
}

/** -1, 0 or 1; missing parts count as 0, what follows the numbers does not count. */
export function compareVersions(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

export const versionHelpers: readonly TemplateHelper[] = [
  {
    name: 'compareVersions',
    signature: 'compareVersions(a, b) → number',
    doc: '-1 when a is older than b, 0 when they are equal, 1 when it is newer; by their numbers.',
    minArgs: 2,
    maxArgs: 2,
    call: (a, b) => compareVersions(asText(a), asText(b)),
  },
  {
    name: 'isVersion',
    signature: 'isVersion(version, atLeast) → boolean',
    doc: 'Whether a version is at least another one: isVersion(haproxy.version, "3.4").',
    minArgs: 2,
    maxArgs: 2,
    call: (version, least) => compareVersions(asText(version), asText(least)) >= 0,
  },
];
