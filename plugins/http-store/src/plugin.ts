import {
  API_VERSION,
  CONTENT_SOURCE,
  definePlugin,
  STATE_STORE,
  TEMPLATE_NAMES,
  type PluginDefinition,
} from '@haptic/core/contract';
import { HttpContents } from './contents/http-contents.ts';
import { KeptContents } from './contents/kept-contents.ts';
import { httpGlobal } from './http-global.ts';
import type { Lookup } from './network/connector.ts';
import { Fetcher } from './network/fetcher.ts';
import { options } from './options.ts';
import type { Random } from './schedule.ts';

/** What stands outside of the process, and chance. */
export interface World {
  readonly lookup?: Lookup;
  readonly random: Random;
}

/** The plugin in a world: the real one, or one that a test moves. */
export function httpStore({ lookup, random }: World): PluginDefinition<typeof options> {
  return definePlugin({
    name: 'http-store',
    apiVersion: API_VERSION,
    options,
    async setup(
      { use, tryUse, provide, log, meter, clock, health, onDispose },
      { maxUrls, ...rules },
    ): Promise<void> {
      const kept = new KeptContents(tryUse(STATE_STORE), log, clock);
      const fetcher = new Fetcher({ ...rules, userAgent: 'haptic', lookup });
      const contents = new HttpContents({ fetcher, kept, clock, log, meter, random });
      onDispose(() => contents.close());
      use(TEMPLATE_NAMES).global(httpGlobal(maxUrls));
      provide(CONTENT_SOURCE, contents);
      health('contents', () => contents.problem());
      await kept.load();
    },
  });
}
