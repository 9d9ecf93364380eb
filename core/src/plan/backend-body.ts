import { directiveReason, harmToServers, judgeDirective } from './backend-directives.ts';

/** The directives of a backend block and what follows from them alone; many backends have the same. */
export interface Body {
  /** As lines of a section: neither indentation nor comments may make two bodies differ. */
  readonly text: string;
  /** What has no business in a body. */
  readonly refusals: readonly string[];
  /** Why a backend with this body cannot be changed at run time; undefined where it can. */
  readonly ownReason: string | undefined;
  /** Why its servers cannot either; undefined where they can. */
  readonly serversReason: string | undefined;
}

function serversReason(lines: readonly string[], consistent: boolean): string | undefined {
  for (const line of lines) {
    const harm = harmToServers(line, consistent);
    if (harm !== undefined) return directiveReason(line, harm);
  }
  return undefined;
}

export function readBody(source: string): Body {
  const lines = source
    .split('\n')
    .map((line) => line.trimStart())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const consistent = lines.some((line) => /^hash-type\s+consistent(\s|$)/.test(line));
  const verdicts = lines.map((line) => judgeDirective(line, consistent));
  return {
    text: lines.map((line) => `    ${line}\n`).join(''),
    refusals: verdicts.flatMap((verdict) => (verdict.kind === 'refused' ? [verdict.reason] : [])),
    ownReason: verdicts.find((verdict) => verdict.kind === 'own')?.reason,
    serversReason: serversReason(lines, consistent),
  };
}
