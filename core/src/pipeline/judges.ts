import { Bug } from '../contract/errors.ts';
import type { Candidate, Finding, JudgeKind, Verdict } from '../contract/finding.ts';
import type { HookContext, Hooks } from '../contract/hooks.ts';
import { FindingLedger } from './finding-ledger.ts';

/** The host, as far as judging needs it. */
export interface JudgingHost {
  readonly hooks: Pick<Hooks, 'validate'>;
}

/**
 * Asks every judge of the kinds, in their order, each on every call: nothing is remembered. A judge that throws or takes too long
 * leaves an error finding and no verdict; the others are still asked.
 *
 * Refused: a judge that finished found an error. Interrupted: the work was called off, or a judge did not finish, was not asked,
 * or (of kind `haproxy`) does not exist. Passed: every judge finished and found no error.
 */
export async function runJudges(
  host: JudgingHost,
  kinds: readonly JudgeKind[],
  candidate: Candidate,
  context: HookContext,
): Promise<Verdict> {
  if (kinds.length === 0) throw new Bug('no kind of judge was asked for');
  const frozen = Object.freeze({ ...candidate });
  const findings: Finding[] = [];
  const unfinished: string[] = [];
  let refused = false;
  for (const kind of kinds) {
    if (context.signal.aborted) break;
    const hook = host.hooks.validate.for(kind);
    const expected = hook.taps.map(({ name }) => name);
    if (kind === 'haproxy' && expected.length === 0) unfinished.push('no judge of kind haproxy is installed');
    const ledger = new FindingLedger(kind, candidate.rendered, {
      showsSecrets: context.caller === 'validate',
    });
    await hook.promise(frozen, ledger, context);
    findings.push(...ledger.findings);
    unfinished.push(...ledger.unfinished(expected));
    refused ||= ledger.refused;
  }
  if (context.signal.aborted) return { kind: 'interrupted', reason: 'cancelled', findings };
  if (refused) return { kind: 'refused', findings };
  if (unfinished.length > 0) return { kind: 'interrupted', reason: unfinished.join('; '), findings };
  return { kind: 'passed', findings };
}
