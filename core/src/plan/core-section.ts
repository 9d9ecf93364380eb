import type { SectionPiece } from '../templates/output.ts';
import type { BuiltSection } from './backend-section.ts';
import type { TextFacts } from './hash.ts';
import type { Problems } from './problems.ts';
import { proxyLines, type ProxyLine } from './proxy-lines.ts';

export interface BuiltCore extends BuiltSection {
  readonly proxies: readonly ProxyLine[];
}

/** A section as its template wrote it. */
export function buildCore(
  piece: SectionPiece,
  memo: { factsOf(text: string): TextFacts },
  problems: Problems,
): BuiltCore {
  const { name, text, provenance } = piece;
  const secret = piece.secret ? { secret: true } : {};
  const section = Object.freeze({
    kind: 'core' as const,
    name,
    ...memo.factsOf(text),
    provenance,
    ...secret,
  });
  return { section, text, proxies: proxyLines(piece, problems) };
}
