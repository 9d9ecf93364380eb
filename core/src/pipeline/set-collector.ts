import {
  PluginError,
  Refused,
  type ConfigSet,
  type ConfigSetCollector,
  type ConfigSource,
} from '../contract/index.ts';

/** Takes the one set of the one source. */
export class SetCollector implements ConfigSetCollector {
  readonly #source: string;
  #set: ConfigSet | undefined;

  /** @param source The plugin that taps `load`, for blame. */
  constructor(source: string) {
    this.#source = source;
  }

  provide(sources: readonly ConfigSource[]): void {
    if (this.#set !== undefined) {
      throw new PluginError('PLUGIN_HOOK', this.#source, 'provided a second configuration set', {
        hook: 'load',
      });
    }
    this.#set = Object.freeze({ sources: Object.freeze([...sources]) });
  }

  /** @throws Refused when nothing was provided. */
  get set(): ConfigSet {
    if (this.#set === undefined) throw new Refused(`${this.#source} found no configuration`);
    return this.#set;
  }
}
