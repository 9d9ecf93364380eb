import {
  IN_PLACE_OPS,
  MOST_OPERATIONS,
  isSupportedBy,
  type Operation,
  type OperationName,
  type Pod,
} from '../../contract/index.ts';

/** The order in which a worker is changed: nothing is named before it is there, and nothing goes while something names it. */
const PHASES = [
  'tls',
  'crt-lines',
  'backends',
  'servers',
  'server-settings',
  'servers-gone',
  'map-leaf',
  'map-list',
  'map-path',
  'map-host',
  'map-host-gone',
  'map-path-gone',
  'map-list-gone',
  'map-leaf-gone',
  'backends-gone',
  'crt-lines-gone',
  'tls-gone',
] as const;
export type Phase = (typeof PHASES)[number];

interface Step {
  readonly phase: number;
  /** Within the phase; equal ones stay in the order in which they came. */
  readonly rank: number;
  readonly reason: string;
  readonly op: Operation;
  /** Only worth doing if a reload has to do it properly. */
  readonly stopgap: boolean;
}

const phaseNumbers: Readonly<Record<string, number>> = Object.fromEntries(
  PHASES.map((phase, index) => [phase, index]),
);

/** More reasons than this say nothing new; the rest is counted. */
const LISTED_REASONS = 64;

function bounded(reasons: ReadonlySet<string>): readonly string[] {
  const more = reasons.size - LISTED_REASONS;
  return more > 0 ? [...[...reasons].slice(0, LISTED_REASONS), `more:${more}`] : [...reasons];
}

/** Collects what has to be done to one pod, and decides how. */
export class Steps {
  readonly #pod: Pod;
  readonly #known: ReadonlySet<string>;
  readonly #steps: Step[] = [];
  readonly #reload = new Set<string>();
  readonly #notes = new Set<string>();

  constructor(pod: Pod) {
    this.#pod = pod;
    this.#known = new Set(pod.ops);
  }

  /** Whether the pod's HAProxy can do it; whether its agent can is seen to by `run`. */
  supports(op: OperationName): boolean {
    const { haproxyVersion } = this.#pod;
    return haproxyVersion !== undefined && isSupportedBy(haproxyVersion, op);
  }

  /** Something that the worker takes up when it loads the files anew. */
  reload(reason: string): void {
    this.#reload.add(reason);
  }

  /** Something that the worker need not take up. */
  note(reason: string): void {
    this.#notes.add(reason);
  }

  /** Something that can be done to the running worker. */
  run(phase: Phase, reason: string, op: Operation, rank = 0): void {
    this.#steps.push({ phase: phaseNumbers[phase]!, rank, reason, op, stopgap: false });
  }

  /** A change of endpoints that a reload does anyway, but perhaps later. */
  stopgap(phase: Phase, op: Operation, rank = 0): void {
    this.#steps.push({ phase: phaseNumbers[phase]!, rank, reason: '', op, stopgap: true });
  }

  get isEmpty(): boolean {
    return this.#steps.length + this.#reload.size + this.#notes.size === 0;
  }

  result():
    | {
        readonly mode: 'reload';
        readonly reasons: readonly string[];
        readonly inPlaceOps: readonly Operation[];
      }
    | {
        readonly mode: 'runtime' | 'file_only';
        readonly reasons: readonly string[];
        readonly ops: readonly Operation[];
      } {
    const steps = this.#steps.sort((a, b) => a.phase - b.phase || a.rank - b.rank);
    const planned = steps.filter(({ stopgap }) => !stopgap);
    this.#requireKnown(planned);
    if (planned.length > MOST_OPERATIONS) this.reload(`too_many_ops:${planned.length}`);
    if (this.#reload.size > 0) {
      const ops = steps.map(({ op }) => op).filter((op) => IN_PLACE_OPS.has(op.op) && this.#known.has(op.op));
      return { mode: 'reload', reasons: bounded(this.#reload), inPlaceOps: ops.slice(0, MOST_OPERATIONS) };
    }
    const reasons = bounded(new Set([...planned.map(({ reason }) => reason), ...this.#notes]));
    return {
      mode: planned.length > 0 ? 'runtime' : 'file_only',
      reasons,
      ops: planned.map(({ op }) => op),
    };
  }

  #requireKnown(steps: readonly Step[]): void {
    const missing = new Set<string>();
    for (const { op, reason } of steps) {
      const isKnown = this.#known.has(op.op);
      if (isKnown && this.supports(op.op)) continue;
      this.reload(reason);
      // That an old HAProxy can not do it is nobody's fault: the reason for the change says enough.
      if (!isKnown && this.supports(op.op)) missing.add(op.op);
    }
    for (const op of missing) this.reload(`op_missing:${op}`);
  }
}
