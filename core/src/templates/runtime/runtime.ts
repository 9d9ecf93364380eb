import type { Clock, GlobalInput, Provenance, RenderInput, TemplateHelper } from '../../contract/index.ts';
import type { KnownGlobal } from '../names/known.ts';
import { ContentRequests } from './content-requests.ts';
import { Declarations } from './declarations.ts';
import { pathOf } from './file-name.ts';
import { limits } from './limits.ts';
import { makingCost, walkingCost } from './costs.ts';
import type { StepCounter } from './step-counter.ts';
import { Memo } from './memo.ts';
import { callMethod } from './methods.ts';
import { DeadlinePassed, SiteError } from './site-error.ts';
import { bounded, boundedList, kindOf, text } from './values.ts';

/** Steps between two looks at the clock. */
const STRIDE = 2_000;
/** Milliseconds after which a render lets others run. */
const PATIENCE = 10;

export interface RuntimeOptions {
  readonly input: RenderInput;
  readonly clock: Clock;
  readonly deadlineMs: number;
  readonly steps: number;
  readonly globals: readonly KnownGlobal[];
  /** The memos of the render before. */
  readonly memo: Memo | undefined;
  /** `snippet:line:column` of a site. */
  readonly where: (site: number) => string;
}

/** One render: what it has used up, what it has declared. Compiled templates get it as `rt`. */
export class Runtime implements StepCounter {
  readonly declarations: Declarations;
  readonly contents: ContentRequests;
  readonly memo: Memo;
  /** Steps so far; at `check` of them, `tick` is due. */
  steps = 0;
  check = STRIDE;
  #depth = 0;
  #breath: number;
  readonly #end: number;
  readonly #options: RuntimeOptions;
  readonly #input: GlobalInput;
  readonly #globals: unknown[];

  constructor(options: RuntimeOptions) {
    this.#options = options;
    const { config, view, fleet, contents } = options.input;
    this.contents = new ContentRequests(contents, options.where);
    this.#input = { config, view, fleet, settings: config.settings, contents: this.contents };
    this.#globals = Array.from({ length: options.globals.length }, () => undefined);
    this.declarations = new Declarations(config.maps, this);
    this.memo = new Memo({ config, fleet }, options.memo);
    this.#breath = options.clock.now();
    this.#end = this.#breath + options.deadlineMs;
  }

  /** Looks at budget and clock. True when the render should let others run. @throws SiteError, DeadlinePassed */
  tick(site: number): boolean {
    if (this.steps > this.#options.steps) {
      throw new SiteError(site, `the render takes more than ${this.#options.steps} steps`);
    }
    this.check = Math.min(this.steps + STRIDE, this.#options.steps + 1);
    const now = this.#options.clock.now();
    if (now >= this.#end) throw new DeadlinePassed(site);
    return now - this.#breath >= PATIENCE;
  }

  /** The render goes on after others ran. */
  resume(): void {
    this.#breath = this.#options.clock.now();
  }

  /** One step where the render cannot pause. */
  step(site: number): void {
    this.charge(1, site);
  }

  charge(size: number, site: number): void {
    this.steps += size;
    // It cannot pause here: the next loop turn or call does.
    if (this.steps >= this.check && this.tick(site)) this.check = this.steps;
  }

  /** A macro or include begins. True when the render should let others run. */
  enter(site: number): boolean {
    if (++this.#depth > limits.depth) {
      throw new SiteError(site, `macros and includes call each other more than ${limits.depth} deep`);
    }
    return ++this.steps >= this.check && this.tick(site);
  }

  leave(): void {
    this.#depth--;
  }

  /** A text is complete: a macro's, a set block's, a section's. */
  wrote(length: number, site: number): void {
    this.checkOutput(length, site);
    this.charge(length >> 1, site);
  }

  /** What an expression made, paid for and within bounds. */
  #made(value: unknown, site: number): unknown {
    this.charge(makingCost(value), site);
    if (typeof value === 'string') return bounded(value, site);
    return Array.isArray(value) ? boundedList(value, site) : value;
  }

  /** Output that grows. */
  checkOutput(length: number, site: number): void {
    if (length > limits.output)
      throw new SiteError(site, `the text becomes longer than ${limits.output} characters`);
  }

  /** A global, built when it is first read. */
  global(index: number, site: number): unknown {
    const known = this.#globals[index];
    if (known !== undefined) return known;
    const global = this.#options.globals[index]!;
    const built = guarded(
      () => global.build(this.#input, this.#options.input.current),
      site,
      `global "${global.name}" failed`,
    );
    this.#globals[index] = built;
    return built;
  }

  /** `helper(args)` */
  call(helper: TemplateHelper, args: readonly unknown[], site: number): unknown {
    this.step(site);
    for (const arg of args) this.charge(walkingCost(arg), site);
    return this.#made(
      guarded(() => helper.call(...args), site, '"{}" failed'),
      site,
    );
  }

  /** `value.name(args)` of plain data. */
  method(value: unknown, name: string, args: readonly unknown[], site: number): unknown {
    if (value == null) throw new SiteError(site, `"{}" is a call of a member of ${kindOf(value)}`);
    this.charge(1 + walkingCost(value), site);
    return this.#made(callMethod(value, name, args, site), site);
  }

  /** `global.name(args)`: a function that a plugin offers, or a method of plain data. */
  host(object: unknown, name: string, args: readonly unknown[], site: number): unknown {
    if (typeof object === 'object' && object !== null && Object.hasOwn(object, name)) {
      const member = (object as Record<string, unknown>)[name];
      if (typeof member === 'function') {
        this.contents.site = site;
        const result = guarded(
          () => (member as (...args: unknown[]) => unknown).apply(object, [...args]),
          site,
          '"{}" failed',
        );
        this.charge(1 + walkingCost(result), site);
        return result;
      }
    }
    return this.method(object, name, args, site);
  }

  fail(message: unknown, site: number): never {
    throw new SiteError(site, text(message, site));
  }

  warn(object: unknown, reason: unknown, message: unknown, site: number): undefined {
    this.declarations.warn(object, reason, message, site);
    return undefined;
  }

  path(kind: unknown, name: unknown, site: number): string {
    return pathOf(kind, name, site);
  }

  put(kind: unknown, name: unknown, content: unknown, provenance: Provenance, site: number): string {
    return this.declarations.put(kind, name, content, provenance, site);
  }
}

/** Blames what a helper or a global throws on the place that called it. */
function guarded<T>(run: () => T, site: number, what: string): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof SiteError || error instanceof DeadlinePassed) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw new SiteError(site, `${what}: ${message}`, { cause: error });
  }
}
