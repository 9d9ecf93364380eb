import type { AddressInfo } from 'node:net';
import { CONTROLLER, definePlugin, FLEET, JUDGE_BINARY } from '@haptic/core/contract';
import { describeBuild, type Build } from './build.ts';
import { addDebugPages } from './debug/pages.ts';
import { options, type BuildFacts } from './options.ts';
import { createServer } from './server.ts';

export type { BuildFacts } from './options.ts';

const UNKNOWN: BuildFacts = { version: 'unknown', sourceHash: 'unknown' };

/** Says over HTTP how the controller is. */
export default definePlugin({
  name: 'health',
  apiVersion: 1,
  options,
  async setup(context, { host, port, build, debug, onListening }) {
    const { log } = context;
    const controller = context.use(CONTROLLER);
    const facts = build ?? (() => Promise.resolve(UNKNOWN));
    let described: Promise<Build> | undefined;
    const describe = (): Promise<Build> => {
      described ??= describeBuild(controller, context.use(JUDGE_BINARY), facts).catch((error: unknown) => {
        // A file that is just being replaced can be read the next time.
        described = undefined;
        throw error;
      });
      return described;
    };
    // Mounted plugins can be exchanged while the program runs: what counts is what it has loaded.
    context.hooks.configAccepted.tap(context.name, () => void describe().catch(() => {}));
    const server = createServer({ controller, log, build: describe });
    if (debug.enabled) {
      addDebugPages(server, {
        controller,
        fleet: () => context.tryUse(FLEET)?.pods() ?? [],
        memory: debug.memory,
      });
    }
    context.onDispose(() => server.close());
    await server.listen({ host, port });
    const bound = server.server.address() as AddressInfo;
    log.info({ host, port: bound.port }, 'answers probes');
    onListening?.({ host, port: bound.port });
  },
});
