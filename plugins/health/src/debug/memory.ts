import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { getHeapSnapshot } from 'node:v8';
import type { FastifyInstance } from 'fastify';

const LONGEST_PROFILE_S = 60;
const DEFAULT_PROFILE_S = 5;

/** `/debug/heap` and `/debug/profile?seconds=5`, in the formats that Chrome's developer tools open. */
export function addMemoryPages(debug: FastifyInstance): void {
  debug.get('/heap', (_request, reply) =>
    reply
      .header('content-disposition', 'attachment; filename="haptic.heapsnapshot"')
      .type('application/json')
      .send(getHeapSnapshot()),
  );
  debug.get('/profile', async (request, reply) => {
    const asked = Number((request.query as { readonly seconds?: string }).seconds ?? DEFAULT_PROFILE_S);
    if (!(asked > 0 && asked <= LONGEST_PROFILE_S)) {
      return reply.code(422).send({ error: `seconds: expected a number up to ${LONGEST_PROFILE_S}` });
    }
    return reply
      .header('content-disposition', 'attachment; filename="haptic.cpuprofile"')
      .send(await profile(asked * 1_000));
  });
}

async function profile(ms: number): Promise<object> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    await sleep(ms);
    const { profile: recorded } = await session.post('Profiler.stop');
    return recorded;
  } finally {
    session.disconnect();
  }
}
