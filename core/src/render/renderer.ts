import type { Dropped } from '../config/index.ts';
import {
  Bug,
  Cancelled,
  isSupportedBy,
  type Clock,
  type HookContext,
  type MergedConfig,
  type Rendered,
  type RenderInput,
} from '../contract/index.ts';
import { assemble, PlanMemo, type Hash } from '../plan/index.ts';
import type { RenderOutput } from '../templates/output.ts';
import { atStandIn } from './stand-in.ts';

export interface RenderLimits {
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly clock: Clock;
}

/** The compiled templates of one configuration. */
export interface Program {
  render(input: RenderInput, limits: RenderLimits): Promise<RenderOutput>;
}

/** @throws Refused with everything that is wrong with the templates. */
export type Compile = (config: MergedConfig, dropped: readonly Dropped[]) => Program;

/** Where backends can be added at run time none need to be kept ready. */
function spareBackends({ config, fleet }: RenderInput): number {
  if (isSupportedBy(fleet.haproxyVersion, 'backend.add')) return 0;
  const { spareBackends: count = 4 } = config.settings;
  return typeof count === 'number' ? count : 0;
}

/** The core's renderer: compiles a configuration once, then runs it over any view of it. */
export class Renderer {
  readonly #compile: Compile;
  readonly #clock: Clock;
  readonly #memo: PlanMemo;
  readonly #programs = new WeakMap<MergedConfig, Program>();

  constructor(compile: Compile, hash: Hash, clock: Clock) {
    this.#compile = compile;
    this.#clock = clock;
    this.#memo = new PlanMemo(hash);
  }

  /** @throws Refused */
  prepare(config: MergedConfig, dropped: readonly Dropped[]): void {
    if (!this.#programs.has(config)) this.#programs.set(config, this.#compile(config, dropped));
  }

  async render(input: RenderInput, { signal }: HookContext): Promise<Rendered> {
    const program = this.#programs.get(input.config);
    if (program === undefined) throw new Bug('a configuration was rendered before it was prepared');
    const deadlineMs = input.config.controller.renderTimeout;
    const output = await program.render(input, { signal, deadlineMs, clock: this.#clock });
    if (signal.aborted) throw new Cancelled('the render was called off', { cause: signal.reason });
    const { standIn } = input;
    const declared = standIn === undefined ? output : atStandIn(output, standIn);
    return assemble(declared, input.config, this.#memo, { ...input, spareBackends: spareBackends(input) });
  }
}
