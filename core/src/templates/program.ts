import {
  Bug,
  Cancelled,
  ContentMissing,
  type Clock,
  type MergedConfig,
  type Provenance,
  type RenderInput,
  type StoreView,
} from '../contract/index.ts';
import type { Pool } from './codegen/pool.ts';
import { RenderAwaitsContent, RenderError, RenderTimeout } from './errors.ts';
import type { RenderOutput } from './output.ts';
import type { Memo } from './runtime/memo.ts';
import { limits } from './runtime/limits.ts';
import { Runtime } from './runtime/runtime.ts';
import { withoutSecretValues } from './runtime/secret-values.ts';
import { DeadlinePassed, SiteError } from './runtime/site-error.ts';
import { pemRefusal } from './runtime/pem.ts';
import type { TemplateSource } from './source.ts';

export interface RenderOptions {
  /** Looked at whenever the render pauses; aborted: no verdict. */
  readonly signal: AbortSignal;
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Loop turns and calls; the default is the limit of the language. */
  readonly steps?: number;
}

/** A compiled template: yields where the render may pause, returns its text. */
export type UnitFunction = (rt: Runtime, call: number) => Generator<undefined, string | undefined, undefined>;

interface FileRoot {
  readonly name: string;
  readonly run: UnitFunction;
  readonly source: TemplateSource;
}

/** The roots of a compiled configuration, files in order of their names. */
export interface Roots {
  readonly main: UnitFunction;
  readonly files: readonly FileRoot[];
  readonly certificates: readonly FileRoot[];
  readonly resources: readonly FileRoot[];
}

/** Longest text of an expression in a message. */
const EXPRESSION_WIDTH = 60;

/** A compiled configuration. Rendering is a pure function of its input; memos save work and change nothing. */
export class Program {
  readonly #config: MergedConfig;
  readonly #roots: Roots;
  readonly #pool: Pool;
  /** Of the last render that came to an end. */
  #memo: Memo | undefined;

  constructor(config: MergedConfig, roots: Roots, pool: Pool) {
    this.#config = config;
    this.#roots = roots;
    this.#pool = pool;
  }

  /**
   * @throws RenderError for what a template says about its data, naming the place and, where known, the objects.
   * @throws RenderAwaitsContent where it cannot go on without a content that is not there yet.
   * @throws RenderTimeout at the deadline; Cancelled when the signal aborts.
   */
  async render(input: RenderInput, options: RenderOptions): Promise<RenderOutput> {
    const { signal, clock, deadlineMs, steps = limits.steps } = options;
    const rt = new Runtime({
      input,
      clock,
      deadlineMs,
      steps,
      globals: this.#pool.globals,
      memo: this.#memo,
      where: (site) => {
        const { source, start } = this.#pool.sites[site]!;
        return source.where(start);
      },
    });
    const run = async (unit: UnitFunction): Promise<string> => {
      const rendering = unit(rt, 0);
      for (;;) {
        if (signal.aborted) throw new Cancelled('the render was cancelled', { cause: signal.reason });
        const result = rendering.next();
        if (result.done === true) return result.value ?? '';
        await pause();
        rt.resume();
      }
    };
    try {
      await run(this.#roots.main);
      for (const file of this.#roots.files) this.#file(rt, file, await run(file.run));
      for (const file of this.#roots.certificates) this.#certificate(rt, file, await run(file.run));
      for (const file of this.#roots.resources) {
        const resource = { name: file.name, text: await run(file.run), provenance: startOf(file.source) };
        rt.declarations.output.k8sResources.push(resource);
      }
    } catch (error) {
      throw this.#translated(error, rt, { deadlineMs, view: input.view });
    }
    this.#memo = rt.memo;
    const requests = rt.contents.list();
    return requests.length === 0 ? rt.declarations.output : { ...rt.declarations.output, requests };
  }

  #file(rt: Runtime, { name, source }: FileRoot, text: string): void {
    const { reloadOnChange } = this.#config.files[name]!;
    const provenance = startOf(source);
    rt.declarations.output.files.push({
      kind: 'file',
      name,
      text,
      reloadOnChange,
      secret: false,
      provenance,
    });
  }

  #certificate(rt: Runtime, { name, source }: FileRoot, pem: string): void {
    const why = pemRefusal(pem);
    if (why !== undefined) throw new RenderError(source.problem(0, `the certificate ${why}`), []);
    const text = pem.endsWith('\n') ? pem : `${pem}\n`;
    rt.declarations.output.certificates.push({ name, pem: text, provenance: startOf(source) });
  }

  /** What went wrong at a site, in the words of a template's author. */
  #translated(
    error: unknown,
    rt: Runtime,
    { deadlineMs, view }: { readonly deadlineMs: number; readonly view: StoreView },
  ): unknown {
    if (error instanceof SiteError) {
      const { source, start, end } = this.#pool.sites[error.site]!;
      const expression = source.text.slice(start, end).replaceAll(/\s+/g, ' ');
      const short =
        expression.length > EXPRESSION_WIDTH ? `${expression.slice(0, EXPRESSION_WIDTH - 1)}…` : expression;
      const said = withoutSecretValues(error.message, view, rt.declarations.isSecret);
      const message = said.replace('{}', () => short);
      const problem = source.problem(start, message);
      const requests = rt.contents.list();
      const { cause } = error;
      if (cause instanceof ContentMissing) return new RenderAwaitsContent(problem, requests, { cause });
      // A cause may show what the message does not.
      return new RenderError(problem, rt.declarations.objects, {
        requests,
        ...(said === error.message && { cause }),
      });
    }
    if (error instanceof DeadlinePassed) {
      const { source, start } = this.#pool.sites[error.site]!;
      return new RenderTimeout(source.where(start), deadlineMs);
    }
    // Only a text that outgrows the engine or a stack that ends, and both are a template's doing.
    if (error instanceof RangeError) {
      const problem = { where: '', message: `the render needs more than there is: ${error.message}` };
      return new RenderError(problem, rt.declarations.objects);
    }
    if (error instanceof TypeError || error instanceof ReferenceError) {
      return new Bug(`compiled template failed: ${error.message}`, { cause: error });
    }
    return error;
  }
}

function startOf({ name, owner }: TemplateSource): Provenance {
  return { snippet: name, source: owner, line: 1, objects: [] };
}

/** Lets everything else that waits run once. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
