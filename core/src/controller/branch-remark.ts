import type { Finding, Fleet, JudgeBinary } from '../contract/index.ts';

/** `3.4` of `3.4.7`. */
function branchOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

/** A warning while the fleet runs other branches of HAProxy than the one that judges. */
export async function branchRemark(
  fleet: Pick<Fleet, 'pods'> | undefined,
  judge: JudgeBinary,
): Promise<readonly Finding[]> {
  const versions = (fleet?.pods() ?? []).flatMap(({ haproxyVersion }) => haproxyVersion ?? []);
  const own = branchOf(await judge.version());
  const others = [...new Set(versions.map(branchOf))].filter((branch) => branch !== own).sort();
  if (others.length === 0) return [];
  const message =
    `the fleet runs HAProxy ${others.join(' and ')}, and ${own} has judged: ` +
    `each pod's own HAProxy decides when it loads the files`;
  return [Object.freeze({ judge: 'fleet', phase: 'haproxy', severity: 'warning', message })];
}
