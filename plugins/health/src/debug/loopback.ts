import type { FastifyReply, FastifyRequest } from 'fastify';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;
const OWN_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;

/**
 * Lets only this machine in, which in a cluster is `kubectl port-forward` and `kubectl exec`. A page in somebody's browser that
 * had its name resolved to this address comes with that name, and stays out too.
 */
export async function loopbackOnly(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { remoteAddress = '', localAddress = '' } = request.socket;
  const isOurs = LOOPBACK.test(remoteAddress) && LOOPBACK.test(localAddress);
  if (isOurs && OWN_NAMES.test(request.headers.host ?? '')) return undefined;
  return reply.code(403).send({
    error: 'debugging is for the loopback interface: use `kubectl port-forward` and http://localhost',
  });
}
