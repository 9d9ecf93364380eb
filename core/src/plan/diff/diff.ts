import type { DeployPlan, PlanInput, RenderPlan } from '../../contract/index.ts';
import { canonicalJson } from '../../values/canonical-json.ts';
import { compareFiles, differingFiles, missingFiles } from './files.ts';
import { compareSections } from './sections.ts';
import { Steps } from './steps.ts';

function loadAll(pod: string, next: RenderPlan, reason: string): DeployPlan {
  const { files, binds } = next;
  return { pod, mode: 'reload', reasons: [reason], ops: [], inPlaceOps: [], files, binds };
}

/** How a pod gets from what it runs to the next plan. Pure. What is not known of a pod is sent and loaded, never refused. */
export function diff({ next, pod }: PlanInput): DeployPlan {
  const { name, baseline } = pod;
  const { binds } = next;
  if (baseline === undefined) return loadAll(name, next, 'baseline_unknown');
  if (baseline.schema !== next.schema)
    return loadAll(name, next, `baseline_schema:${baseline.schema as number}`);
  if (baseline.id === next.id)
    return { pod: name, from: next.id, mode: 'noop', reasons: [], ops: [], inPlaceOps: [], files: [], binds };

  const steps = new Steps(pod);
  const isLoaded = (profile: string): boolean =>
    pod.loadedProfiles?.has(profile) ?? Object.hasOwn(baseline.profiles, profile);
  compareSections(next, baseline, { steps, isLoaded });
  const window = differingFiles(next, baseline);
  compareFiles(window, next, baseline, steps);
  if (canonicalJson(binds) !== canonicalJson(baseline.binds)) steps.reload('binds_changed');
  if (steps.isEmpty) steps.note('layout_changed');
  return {
    pod: name,
    from: baseline.id,
    ops: [],
    inPlaceOps: [],
    ...steps.result(),
    files: missingFiles(window),
    binds,
  };
}
