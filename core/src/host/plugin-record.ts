import { PluginError } from '../contract/errors.ts';
import type { Log } from '../contract/observability.ts';

type Dispose = () => void | Promise<void>;

/** What one plugin registered with its host. */
export class PluginRecord {
  readonly name: string;
  /** Names of the hooks that it tapped, in order. */
  readonly hooks = new Set<string>();
  /** True while its `setup` runs: the only time to tap. */
  settingUp = false;
  readonly #log: Log;
  readonly #checks = new Map<string, () => string | undefined>();
  readonly #disposers: Dispose[] = [];
  #disposal: 'not begun' | 'running' | 'done' = 'not begun';

  constructor(name: string, log: Log) {
    this.name = name;
    this.#log = log;
  }

  addCheck(name: string, check: () => string | undefined): void {
    this.#checks.set(name, check);
  }

  /** Each check's answer; a check that throws answers with its error. */
  runChecks(): { name: string; problem: string | undefined }[] {
    return Array.from(this.#checks, ([name, check]) => ({ name, problem: answer(check) }));
  }

  addDisposer(dispose: Dispose): void {
    if (this.#disposal === 'done') void this.#disposeLate(dispose);
    else this.#disposers.push(dispose);
  }

  get disposed(): boolean {
    return this.#disposal === 'done';
  }

  /** Runs every disposer, the last registered first, also after one failed. */
  async dispose(): Promise<PluginError[]> {
    this.#disposal = 'running';
    const failures: PluginError[] = [];
    for (let next = this.#disposers.pop(); next !== undefined; next = this.#disposers.pop()) {
      try {
        await next();
      } catch (cause) {
        const text = cause instanceof Error ? cause.message : String(cause);
        failures.push(new PluginError('PLUGIN_DISPOSE', this.name, `dispose failed: ${text}`, { cause }));
      }
    }
    this.#disposal = 'done';
    return failures;
  }

  /** A setup that hung until its host gave up may still open something afterwards. */
  async #disposeLate(dispose: Dispose): Promise<void> {
    try {
      await dispose();
    } catch (error) {
      this.#log.error({ plugin: this.name, err: error }, 'a dispose after the stop failed');
    }
  }
}

function answer(check: () => string | undefined): string | undefined {
  try {
    return check();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
