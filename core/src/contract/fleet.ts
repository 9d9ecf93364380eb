import type { Outcome, Pod } from './deploy-plan.ts';
import type { FleetFacts } from './render-input.ts';
import type { Digest } from './render-plan.ts';
import { serviceKey, type ServiceKey } from './service-key.ts';

/** A HAProxy pod that is there, whether or not its agent answers. */
export interface FoundPod {
  /** Of this very pod: one that takes its name later has another. */
  readonly uid: string;
  readonly name: string;
  /** A literal IP address. */
  readonly address: string;
  /** It is being taken down, and serves until it is gone. */
  readonly stops: boolean;
}

/** Knows which HAProxy pods there are. Provided where nobody lists them by hand. */
export interface PodDiscovery {
  /** Told of all pods: when it is first known which there are, and whenever that changes. Returns how to stop. */
  follow(listener: (pods: readonly FoundPod[]) => void): () => void;
}
export const POD_DISCOVERY: ServiceKey<PodDiscovery> = serviceKey('pod-discovery');

/** The HAProxy pods and what they run. Provided by the transport to the agents. */
export interface Fleet {
  pods(): readonly Pod[];
  /** `haproxyVersion` is undefined until a pod answered; the core then asks the judge. */
  facts(): Omit<FleetFacts, 'haproxyVersion'> & { readonly haproxyVersion?: string };
  /** The highest epoch that any pod has seen which answers soon; 0 where none does. */
  highestEpoch(signal: AbortSignal): Promise<number>;
  /** Called when a pod comes, goes or reports another state: the core plans and deploys again. Returns how to stop. */
  onChange(listener: () => void): () => void;
  /**
   * Every pod that carries this plan without its own HAProxy having loaded it goes back to its last known good. Pods whose own
   * binary loaded it are left alone: that is stronger evidence than a judge's. An apply of it that is under way ends first, one
   * that still waits for its turn is not sent. A pod that does not answer is reverted when it comes back, if it still carries the
   * plan and nothing newer was deployed to it. Resolves with one outcome for each pod that carried the plan, and for each that did
   * not answer.
   */
  revert(plan: Digest, signal: AbortSignal): Promise<readonly Outcome[]>;
}
export const FLEET: ServiceKey<Fleet> = serviceKey('fleet');
