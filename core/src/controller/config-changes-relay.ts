import type { ConfigChanges } from '../contract/index.ts';

/** Hands on what config sources say; before anybody listens nothing is lost, since a loop begins by loading. */
export class ConfigChangesRelay implements ConfigChanges {
  #listener: () => void = () => {};

  listen(listener: () => void): void {
    this.#listener = listener;
  }

  changed(): void {
    this.#listener();
  }
}
