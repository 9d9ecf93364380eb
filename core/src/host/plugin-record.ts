import { PluginError } from '../contract/errors.ts';
import type { Log } from '../contract/observability.ts';
import type { HealthCheck } from '../contract/plugin.ts';

type Dispose = () => void | Promise<void>;

/** What one plugin registered with its host. */
export class PluginRecord {
  readonly name: string;
  /** Names of the hooks that it tapped, in order. */
  readonly hooks = new Set<string>();
  /** Checks of the health body, by name. */
  readonly checks = new Map<string, HealthCheck>();
  /** True while its `setup` runs: the only time to tap. */
  settingUp = false;
  readonly #log: Log;
  readonly #disposers: Dispose[] = [];
  #disposal: 'not begun' | 'running' | 'done' = 'not begun';

  constructor(name: string, log: Log) {
    this.name = name;
    this.#log = log;
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
