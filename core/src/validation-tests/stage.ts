import type { Fixtures, MergedConfig } from '../contract/config.ts';
import type { JudgeKind, Verdict } from '../contract/finding.ts';
import type { JsonObject } from '../contract/object.ts';
import type { Clock } from '../contract/observability.ts';
import type { StandIn } from '../contract/render-input.ts';
import type { Rendered } from '../contract/render-plan.ts';
import type { TrafficProbe } from '../contract/traffic-probe.ts';
import type { PreparedTest } from './prepare-test.ts';
import type { TestResult } from './outcome.ts';

/** One render of a test: as the test says, but for what is given. */
export interface TestRender {
  readonly prepared: PreparedTest;
  readonly fixtures?: Fixtures;
  readonly settings?: JsonObject;
  /** Of a HAProxy that is started on it. */
  readonly probe?: { readonly workerSocket: string; readonly standIn: StandIn };
  /** By templates that were compiled for this render alone, and remember nothing of any other. */
  readonly anew?: boolean;
}

/** Watches a run, for people and for folders. Nothing that it throws is caught. */
export interface TestObserver {
  /** A test's own render, before anybody judged it. */
  readonly rendered?: (name: string, rendered: Rendered) => void;
  readonly finished?: (result: TestResult, counts: { readonly done: number; readonly all: number }) => void;
}

/** What tests run on. */
export interface TestStage {
  /** After `resolveRequires`. */
  readonly config: MergedConfig;
  /** Only these tests. @throws Refused for a name that is none. */
  readonly only?: readonly string[];
  /** @throws Refused, Cancelled */
  readonly render: (render: TestRender) => Promise<Rendered>;
  /** Asks the judges of these kinds about a test's own render. */
  readonly judge: (
    rendered: Rendered,
    prepared: PreparedTest,
    kinds: readonly JudgeKind[],
  ) => Promise<Verdict>;
  /** Of the judge's binary; tests for newer ones are skipped. Undefined: none is. */
  readonly haproxyVersion?: string;
  /** Why HAProxy cannot be asked whether a configuration is valid; undefined where it can. */
  readonly noHaproxy?: string;
  readonly probe?: TrafficProbe;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** How many tests run at a time. */
  readonly concurrency?: number;
  readonly observer?: TestObserver;
}
