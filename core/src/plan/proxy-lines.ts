import type { Provenance } from '../contract/index.ts';
import type { SectionPiece } from '../templates/output.ts';
import { harmToServers, harmWhenInherited } from './backend-directives.ts';
import type { Problems } from './problems.ts';

/** A proxy that a section declares, by the first words of a line. Nothing else of a section's text is looked at. */
export interface ProxyLine {
  readonly kind: 'frontend' | 'backend' | 'listen' | 'defaults';
  /** Empty for an anonymous `defaults`. */
  readonly name: string;
  readonly from?: string;
  readonly provenance: Provenance;
  /** What follows for backends that inherit from it; of `defaults` only. */
  readonly harm: BaseHarm;
}

/** Why backends from a `defaults` section cannot be changed at run time, where they cannot. */
export interface BaseHarm {
  readonly backend?: string;
  /** Why their servers cannot either. */
  readonly servers?: string;
}

const PROXY = /^[ \t]*(frontend|backend|listen|defaults)(?:[ \t]+(\S+))?(?:[ \t]+from[ \t]+(\S+))?/;
const EXPLICIT_FROM = /^[ \t]*defaults[ \t]+from[ \t]+(\S+)/;

function parseProxyLine(line: string, provenance: Provenance): ProxyLine | undefined {
  const anonymous = EXPLICIT_FROM.exec(line)?.[1];
  if (anonymous !== undefined) return { kind: 'defaults', name: '', from: anonymous, provenance, harm: {} };
  const found = PROXY.exec(line);
  if (found === null) return undefined;
  const [, kind, name = '', from] = found;
  return { kind: kind as ProxyLine['kind'], name, provenance, harm: {}, ...(from !== undefined && { from }) };
}

/** The worker does not survive it, and `haproxy -c` accepts it: nobody else would say so. */
const CRASHES_EVERYBODY = /^[ \t]*http-request[ \t]+cache-use\b/;

function harmOf(line: string, consistent: boolean, { name }: ProxyLine): BaseHarm {
  // A frontend from the same defaults obeys it, so a compression there is right; and backends may have their own.
  if (/^\s*compression\b/.test(line)) return {};
  const backend = harmWhenInherited(line, consistent);
  const servers = harmToServers(line, consistent);
  const place = `${line.trim().split(/\s+/, 2).join(' ')} in defaults "${name}"`;
  return {
    ...(backend !== undefined && { backend: `${place}: ${backend}` }),
    ...(servers !== undefined && { servers: `${place}: ${servers}` }),
  };
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
    found[found.length - 1] = { ...current, harm: { ...harmOf(line, consistent, current), ...current.harm } };
  }
  return found;
}
