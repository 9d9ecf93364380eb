import type { Clock, DeployPlan, Outcome, Pod, RenderPlan } from '../contract/index.ts';
import { backoff } from './backoff.ts';

/** How long a pod may take to report a plan that it took, before it is sent again. */
const REPORT_MS = 30_000;

interface Attempt {
  readonly planId: string;
  readonly mode: DeployPlan['mode'];
  /** What the pod reported when it was tried. */
  readonly baselineId: string | undefined;
  /** Undefined while it runs. */
  readonly result?: Outcome['result'];
  readonly failures: number;
  readonly notBefore: number;
}

/** Which pods to try now. */
export class PodAttempts {
  readonly #clock: Clock;
  readonly #attempts = new Map<string, Attempt>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Forgets pods that went. */
  keepOnly(pods: readonly Pod[]): void {
    const names = new Set(pods.map(({ name }) => name));
    for (const [name, { result }] of this.#attempts) {
      if (!names.has(name) && result !== undefined) this.#attempts.delete(name);
    }
  }

  /**
   * Not while an attempt runs, nor what is held back by the fleet. A pod that reports something new may be tried at once; so may one that rejected another plan. One
   * that could not be reached would keep everybody waiting with any plan.
   */
  mayTry(pod: Pod, plan: RenderPlan): boolean {
    const last = this.#attempts.get(pod.name);
    if (pod.held === plan.id) return false;
    if (last === undefined) return true;
    if (last.result === undefined) return false;
    if (last.result === 'held') return true;
    if (last.baselineId !== pod.baseline?.id) return true;
    if (last.planId !== plan.id && last.result !== 'unreachable') return true;
    return this.#clock.now() >= last.notBefore;
  }

  began(pod: Pod, plan: RenderPlan, mode: DeployPlan['mode']): void {
    const failures = this.#attempts.get(pod.name)?.failures ?? 0;
    this.#attempts.set(pod.name, {
      planId: plan.id,
      mode,
      baselineId: pod.baseline?.id,
      failures,
      notBefore: Infinity,
    });
  }

  ended({ pod, result }: Outcome): void {
    const running = this.#attempts.get(pod);
    if (running === undefined) return;
    // It has nothing to report; that it is to be told of a late verdict may be known any moment.
    if (running.mode === 'noop' && result === 'noop') return this.settled(pod);
    const failed = result === 'rejected' || result === 'unreachable';
    const failures = failed ? running.failures + 1 : 0;
    const wait = failed ? backoff(failures) : result === 'held' ? Infinity : REPORT_MS;
    this.#attempts.set(pod, { ...running, result, failures, notBefore: this.#clock.now() + wait });
  }

  /** Plans that are on their way to pods, or taken and not reported yet. */
  get planIds(): readonly string[] {
    return [...this.#attempts.values()].map(({ planId }) => planId);
  }

  /** The pod runs what is wanted. */
  settled(pod: string): void {
    this.#attempts.delete(pod);
  }

  /** Milliseconds until a pod that failed, or does not report, may be tried again. */
  nextTry(): number | undefined {
    const times = [...this.#attempts.values()].map(({ notBefore }) => notBefore).filter(Number.isFinite);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#clock.now());
  }
}
