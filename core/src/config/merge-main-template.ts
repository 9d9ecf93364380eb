import type { TemplateContent } from '../contract/config.ts';
import { twice, type MergeReport } from './merge-named.ts';
import { originAt, problemAt, type ParsedSource } from './parse-source.ts';

/** The main template: one library supplies it, the config may replace it, and somebody has to. */
export function mergeMainTemplate(
  sources: readonly ParsedSource[],
  { problems, overrides }: MergeReport,
): TemplateContent | undefined {
  let winner: ParsedSource | undefined;
  for (const parsed of sources) {
    if (parsed.content.haproxyConfig === undefined) continue;
    if (winner !== undefined && parsed.source.kind === 'library') {
      problems.push(twice(winner, parsed, ['haproxyConfig'], 'exactly one library may supply it'));
      continue;
    }
    if (winner !== undefined) {
      const { name } = winner.source;
      overrides.push({ kind: 'haproxyConfig', name: 'haproxyConfig', of: name, by: parsed.source.name });
    }
    winner = parsed;
  }
  if (winner === undefined) {
    const config = sources.at(-1)!.source;
    problems.push(problemAt(config, [], 'no source supplies haproxyConfig, the main template'));
    return undefined;
  }
  const { template } = winner.content.haproxyConfig!;
  return { template, requires: [], origin: originAt(winner.source, ['haproxyConfig', 'template']) };
}
