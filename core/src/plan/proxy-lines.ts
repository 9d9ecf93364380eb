import type { Provenance } from '../contract/index.ts';
import type { SectionPiece } from '../templates/output.ts';
import { harmWhenInherited } from './backend-directives.ts';
import type { Problems } from './problems.ts';

/** A proxy that a section declares, by the first words of a line. Nothing else of a section's text is looked at. */
export interface ProxyLine {
  readonly kind: 'frontend' | 'backend' | 'listen' | 'defaults';
  /** Empty for an anonymous `defaults`. */
  readonly name: string;
  readonly from?: string;
  readonly provenance: Provenance;
  /** Why no backend that inherits from it can be changed at run time; of `defaults` only. */
  readonly harm?: string;
}

const PROXY = /^[ \t]*(frontend|backend|listen|defaults)(?:[ \t]+(\S+))?(?:[ \t]+from[ \t]+(\S+))?/;
const EXPLICIT_FROM = /^[ \t]*defaults[ \t]+from[ \t]+(\S+)/;

function parseProxyLine(line: string, provenance: Provenance): ProxyLine | undefined {
  const anonymous = EXPLICIT_FROM.exec(line)?.[1];
  if (anonymous !== undefined) return { kind: 'defaults', name: '', from: anonymous, provenance };
  const found = PROXY.exec(line);
  if (found === null) return undefined;
  const [, kind, name = '', from] = found;
  return { kind: kind as ProxyLine['kind'], name, provenance, ...(from !== undefined && { from }) };
}

/** The worker does not survive it, and `haproxy -c` accepts it: nobody else would say so. */
const CRASHES_EVERYBODY = /^[ \t]*http-request[ \t]+cache-use\b/;

function harmOf(line: string, consistent: boolean): string | undefined {
  // A frontend from the same defaults obeys it, so a compression there is right; and backends may have their own.
  if (/^\s*compression\b/.test(line)) return undefined;
  return harmWhenInherited(line, consistent);
}

/** The proxies that a section's text declares. */
export function proxyLines({ text, provenance }: SectionPiece, problems: Problems): readonly ProxyLine[] {
  const found: ProxyLine[] = [];
  const consistent = /^[ \t]*hash-type[ \t]+consistent\b/m.test(text);
  for (const line of text.split('\n')) {
    const proxy = parseProxyLine(line, provenance);
    if (proxy !== undefined) {
      found.push(proxy);
      if (proxy.from !== undefined || proxy.kind === 'defaults') continue;
      problems.add(
        provenance,
        `${proxy.kind} "${proxy.name}" must name its defaults, "${proxy.kind} ${proxy.name} from …": without, it inherits whatever stands last`,
      );
    }
    const current = found.at(-1);
    if (current?.kind !== 'defaults' || proxy !== undefined) continue;
    if (CRASHES_EVERYBODY.test(line)) {
      problems.add(
        provenance,
        `defaults "${current.name}" must not hold "http-request cache-use": the worker crashes on requests that inherit it; write it in the frontend or backend`,
      );
    }
    const harm = harmOf(line, consistent);
    if (harm === undefined || current.harm !== undefined) continue;
    const words = line.trim().split(/\s+/, 2).join(' ');
    found[found.length - 1] = { ...current, harm: `${words} in defaults "${current.name}": ${harm}` };
  }
  return found;
}
