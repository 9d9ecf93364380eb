import { once } from 'node:events';
import { createServer } from 'node:net';
import { Refused } from '@haptic/core/contract';

/** @throws Refused when somebody listens there already: HAProxy would only say so after everything else was started. */
export async function assertPortFree(host: string, port: number): Promise<void> {
  const probe = createServer();
  try {
    probe.listen({ host, port, exclusive: true });
    await once(probe, 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'needs more rights' : message;
    throw new Refused(`port ${port} of ${host} ${why}; choose another with --http-port or HAPTIC_HTTP_PORT`);
  } finally {
    probe.close();
  }
}
