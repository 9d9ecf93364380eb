import { PluginError } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import type { ServiceKey } from '../contract/service-key.ts';

/** A service that the host's owner brings. */
export interface ServiceOffer {
  readonly key: ServiceKey<unknown>;
  readonly service: unknown;
}

export function offer<T>(key: ServiceKey<T>, service: T): ServiceOffer {
  return { key, service };
}

/** Who provides what; one provider a name. Keys are equal by name, so that a plugin may carry its own copy of a key. */
export class Services {
  readonly #offers = new Map<string, { readonly provider: string; readonly service: unknown }>();

  provide(provider: string, key: ServiceKey<unknown>, service: unknown): void {
    const taken = this.#offers.get(key.name);
    if (taken !== undefined) {
      const mend = 'enable only one of the two';
      throw new PluginError(
        'PLUGIN_SERVICE',
        provider,
        `the service "${key.name}" is already provided by ${taken.provider}; ${mend}`,
      );
    }
    this.#offers.set(key.name, { provider, service });
  }

  use<T>(user: string, key: ServiceKey<T>): T {
    if (!this.#offers.has(key.name)) {
      const names = [...this.#offers.keys()].sort();
      const known = names.length === 0 ? 'no service is provided' : `provided so far: ${names.join(', ')}`;
      throw new PluginError(
        'PLUGIN_SERVICE',
        user,
        `nobody provides the service "${key.name}"${didYouMean(key.name, names)} (${known}); ` +
          'enable a plugin that does, and name it in `after`',
      );
    }
    return this.tryUse(key) as T;
  }

  tryUse<T>(key: ServiceKey<T>): T | undefined {
    return this.#offers.get(key.name)?.service as T | undefined;
  }

  /** Names of the services that one plugin provides. */
  of(provider: string): string[] {
    return [...this.#offers].flatMap(([name, offer]) => (offer.provider === provider ? [name] : []));
  }
}
