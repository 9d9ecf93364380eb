import type { Digest, Finding, Rendered, Verdict } from '../contract/index.ts';

/** Verdicts that are kept; of an older one HAProxy is asked again. */
const KEPT = 64;

type Settled = Exclude<Verdict, { readonly kind: 'interrupted' }>;

/** Words about a content are about every render of it; whose objects they are may differ. */
function placedIn(rendered: Rendered, finding: Finding): Finding {
  const { path, line } = finding;
  const provenance = path === undefined || line === undefined ? undefined : rendered.locate(path, line);
  return provenance === undefined ? finding : Object.freeze({ ...finding, provenance });
}

/**
 * What HAProxy said about contents, by plan id. For the render gate alone, in this process alone: everybody else asks. What was
 * no verdict is not kept.
 */
export class VerdictMemory {
  readonly #verdicts = new Map<Digest, Settled>();

  keep(planId: Digest, verdict: Verdict): void {
    if (verdict.kind === 'interrupted') return;
    this.#verdicts.delete(planId);
    this.#verdicts.set(planId, verdict);
    for (const id of [...this.#verdicts.keys()].slice(0, -KEPT)) this.#verdicts.delete(id);
  }

  recall(rendered: Rendered): Settled | undefined {
    const verdict = this.#verdicts.get(rendered.plan.id);
    if (verdict === undefined) return undefined;
    return { ...verdict, findings: verdict.findings.map((finding) => placedIn(rendered, finding)) };
  }
}
