import { registerHooks } from 'node:module';

let registered = false;

/**
 * Makes every import of `@haptic/core` mean this host's copy. A plugin on a mounted volume has none beside it, and one that
 * brought its own would speak with other classes of errors and other service keys.
 */
export function shareOwnModules(): void {
  if (registered) return;
  registered = true;
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!specifier.startsWith('@haptic/core/')) return nextResolve(specifier, context);
      // A package may import itself by name: resolved from here, that is this copy.
      return nextResolve(specifier, { ...context, parentURL: import.meta.url });
    },
  });
}
