import type { AddressInfo } from 'node:net';
import { CONTROLLER, definePlugin, OBJECT_INTERESTS, z } from '@haptic/core/contract';
import { FollowedCredentials } from '@haptic/core/tls';
import { judgeReview } from './judge-review.ts';
import { createServer } from './server.ts';
import { Turns } from './turns.ts';

export { webhookConfiguration, type WebhookTarget } from './webhook-configuration.ts';

const TURNS = { atOnce: 4, waiting: 200 } as const;

/** Asked by API servers before an object changes: every judge answers on what would be served. */
export default definePlugin({
  name: 'admission',
  apiVersion: 1,
  options: z.strictObject({
    host: z.string().min(1).default('0.0.0.0'),
    port: z.int().min(0).max(65_535).default(9443),
    /** PEM files, read anew when they change. With `clientCa` nobody is answered who has no certificate of these authorities. */
    tls: z.strictObject({
      cert: z.string().min(1),
      key: z.string().min(1),
      clientCa: z.string().min(1).exactOptional(),
    }),
    /** Milliseconds; the API server waits ten seconds. */
    deadline: z.int().positive().max(29_000).default(9_000),
    onListening: z.custom<(port: number) => void>((value) => typeof value === 'function').optional(),
  }),
  async setup(context, { host, port, tls, deadline, onListening }) {
    const { log, meter, clock } = context;
    const controller = context.use(CONTROLLER);
    const files = { cert: tls.cert, key: tls.key, ca: tls.clientCa };
    const credentials = new FollowedCredentials({ files, log, clock });
    const turns = new Turns(TURNS);
    context.onDispose(() => credentials[Symbol.dispose]());
    const server = createServer({
      credentials,
      deadline,
      log,
      meter,
      judge: (request, signal) =>
        judgeReview({ controller, interests: context.tryUse(OBJECT_INTERESTS), turns }, request, signal),
    });
    context.onDispose(() => server.close());
    await server.listen({ host, port });
    const bound = (server.server.address() as AddressInfo).port;
    log.info({ host, port: bound }, 'judges changes before they happen');
    onListening?.(bound);
  },
});
