import {
  PluginError,
  Refused,
  type ConfigSet,
  type ConfigSetCollector,
  type ConfigSource,
  type ConfigVersion,
} from '../contract/index.ts';

/** Takes the one set of the one source. */
export class SetCollector implements ConfigSetCollector {
  readonly #source: string;
  #set: ConfigSet | undefined;
  #version: ConfigVersion | undefined;

  /** @param source The plugin that taps `load`, for blame. */
  constructor(source: string) {
    this.#source = source;
  }

  version(version: ConfigVersion): void {
    this.#version = Object.freeze({ ...version });
  }

  provide(sources: readonly ConfigSource[]): void {
    if (this.#set !== undefined) {
      throw new PluginError('PLUGIN_HOOK', this.#source, 'provided a second configuration set', {
        hook: 'load',
      });
    }
    const version = this.#version;
    this.#set = Object.freeze({ sources: Object.freeze([...sources]), ...(version && { version }) });
  }

  /** What the source has said to speak of, whatever came of it. */
  get told(): ConfigVersion | undefined {
    return this.#version;
  }

  /** @throws Refused when nothing was provided. */
  get set(): ConfigSet {
    if (this.#set === undefined) throw new Refused(`${this.#source} found no configuration`);
    return this.#set;
  }
}
