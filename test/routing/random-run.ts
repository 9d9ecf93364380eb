import * as fc from 'fast-check';
import type { Haproxy } from '../haproxy/versions.ts';
import { requestBytes, type Rule } from './case-table.ts';
import { decide, type HostTenancy, type Request } from './oracle.ts';
import type { RoutingPlugins } from './plugin-globals.ts';
import { requestFor, ruleSet } from './random-rules.ts';
import { haproxyName, ruleSource, servicesOf } from './rules.ts';
import { outcomeOf, startSite, type Site } from './site.ts';

export const requestsPerSet = 60;

export interface RandomRun {
  readonly haproxy: Haproxy;
  readonly upstreamPort: number;
  readonly seed: number;
  readonly editBase?: ((text: string) => string) | undefined;
  readonly plugins?: RoutingPlugins;
}

/** One random rule set on a real HAProxy: a line for each request that the oracle decides otherwise. */
export async function randomSet(run: RandomRun): Promise<readonly string[]> {
  const { haproxy, upstreamPort, seed, editBase, plugins } = run;
  const [rules = []] = fc.sample(ruleSet, { seed, numRuns: 1 });
  const requests = fc.sample(requestFor(rules), { seed, numRuns: requestsPerSet });
  const tenancy = seed % 3 === 0 ? 'strict' : 'shared';
  const site = await startSite(haproxy, {
    config: { tenancy: { hosts: tenancy } },
    sources: [ruleSource(rules)],
    objects: servicesOf(rules, upstreamPort),
    editBase,
    plugins,
  });
  try {
    return await differencesOf(site, { rules, requests, tenancy, seed });
  } finally {
    await site.stop();
  }
}

interface Comparison {
  readonly rules: readonly Rule[];
  readonly requests: readonly Request[];
  readonly tenancy: HostTenancy;
  readonly seed: number;
}

async function differencesOf(site: Site, comparison: Comparison): Promise<readonly string[]> {
  const { rules, requests, tenancy, seed } = comparison;
  const differences: string[] = [];
  for (const request of requests) {
    const { listener, target, ...rest } = request;
    const bytes = requestBytes({ ...rest, path: target });
    const outcome = outcomeOf(await site.send(listener === 'ingress' ? 'i80' : 'g80', bytes));
    const rule = decide(rules, request, tenancy);
    const wanted = rule === undefined ? '404' : haproxyName(rule.backend ?? '', rule.namespace);
    if (outcome !== wanted) {
      differences.push(`seed ${seed}: ${JSON.stringify(request)}: ${outcome}, wanted ${wanted}`);
    }
  }
  return differences;
}
