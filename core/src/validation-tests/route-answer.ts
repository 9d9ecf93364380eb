import type { RouteExpectation, RouteRequest } from '../contract/config.ts';
import { didYouMean } from '../contract/nearest.ts';
import type { ProbeAnswer } from '../contract/traffic-probe.ts';

/** Where requests go that name no address. */
const USUAL = { plain: ':80', tls: ':443' } as const;

/** The index of the address that a request goes to, or why there is none. */
export function chooseBind(
  addresses: readonly string[],
  { bind, tls }: RouteRequest,
): number | { readonly problem: string } {
  if (bind !== undefined) {
    const index = addresses.indexOf(bind);
    if (index !== -1) return index;
    return {
      problem: `HAProxy does not listen on "${bind}" but on ${addresses.join(', ')}${didYouMean(bind, addresses)}`,
    };
  }
  if (addresses.length === 1) return 0;
  const usual = tls === undefined ? USUAL.plain : USUAL.tls;
  const found = addresses.flatMap((address, index) => (address.endsWith(usual) ? [index] : []));
  if (found.length === 1) return found[0]!;
  // Of several families and protocols on one port the one that everybody has.
  const everybody = found.filter((index) => [usual, `*${usual}`].includes(addresses[index]!));
  if (everybody.length === 1) return everybody[0]!;
  const some = found.length === 0 ? 'none of them ends' : `${found.length} of them end`;
  return {
    problem: `HAProxy listens on ${addresses.join(', ')}, and ${some} with "${usual}": say which with "bind"`,
  };
}

/** As a person would write it in an address bar. */
export function describeRequest({ method, host = '', path, tls }: RouteRequest): string {
  return `${method} ${tls === undefined ? 'http' : 'https'}://${host}${path}`;
}

function describeAnswer({ status, location, backends }: ProbeAnswer): string {
  const who = backends.length === 0 ? 'no backend' : `backend ${backends.join(' and ')}`;
  if (status === undefined) return `there was no answer, and ${who} took it`;
  return `${who} answered ${status}${location === undefined ? '' : `, Location: ${location}`}`;
}

/** What of an answer is not as it should be; undefined: nothing. */
export function answerFailure(
  request: RouteRequest,
  expect: RouteExpectation,
  answer: ProbeAnswer,
  known: readonly string[],
): string | undefined {
  const missed: string[] = [];
  const { backend, redirect, status } = expect;
  if (backend !== undefined && !answer.backends.includes(backend)) {
    const unknown = known.includes(backend) ? '' : `, which does not exist${didYouMean(backend, known)}`;
    missed.push(`backend ${backend}${unknown}`);
  }
  if (status !== undefined && answer.status !== status) missed.push(`status ${status}`);
  if (redirect !== undefined && answer.location !== redirect) missed.push(`Location: ${redirect}`);
  if (missed.length === 0) return undefined;
  return `${describeRequest(request)}: ${describeAnswer(answer)}; expected ${missed.join(' and ')}`;
}
