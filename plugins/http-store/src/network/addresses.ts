import { BlockList, isIP } from 'node:net';

/**
 * What is no public unicast address: loopback, link-local (metadata services live there), private and shared ranges, and the rest
 * of the special-purpose registry.
 */
const SPECIAL_V4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Of IPv6 only this is public. */
const GLOBAL_V6 = ['2000::', 3] as const;

/** Inside of it: protocol assignments (Teredo among them), documentation, 6to4. They carry or name other addresses. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

function listOf(v4: Iterable<readonly [string, number]>, v6: Iterable<readonly [string, number]>): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of v4) list.addSubnet(address, prefix, 'ipv4');
  for (const [address, prefix] of v6) list.addSubnet(address, prefix, 'ipv6');
  return list;
}

const special = listOf(SPECIAL_V4, SPECIAL_V6);
const global = listOf([], [GLOBAL_V6]);

/** `10.0.0.0/8`, `fd00::/8` or a single address; undefined for other text. */
export function parseCidr(text: string): readonly [address: string, prefix: number] | undefined {
  const [address = '', length, ...more] = text.split('/');
  const family = isIP(address);
  if (family === 0 || more.length > 0 || address.includes('%')) return undefined;
  const longest = family === 4 ? 32 : 128;
  if (length === undefined) return [address, longest];
  const prefix = /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  return prefix <= longest ? [address, prefix] : undefined;
}

/** The IPv4 address that an IPv6 one stands for (`::ffff:10.0.0.1`), whichever way it is written. */
function mappedV4(address: string): string | undefined {
  // The URL parser writes every spelling in the same way.
  const short = new URL(`http://[${address}]`).hostname;
  const match = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(short);
  if (match === null) return undefined;
  const [high, low] = [parseInt(match[1]!, 16), parseInt(match[2]!, 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Decides which addresses may be connected to: public ones, and those that the operator allows. */
export class AddressRules {
  readonly #allowed: BlockList;

  constructor(allowed: readonly string[]) {
    const cidrs = allowed.map((text) => parseCidr(text)!);
    this.#allowed = listOf(
      cidrs.filter(([address]) => isIP(address) === 4),
      cidrs.filter(([address]) => isIP(address) === 6),
    );
  }

  allows(text: string): boolean {
    const address = text.replace(/%.*$/, '');
    const family = isIP(address);
    if (family === 0) return false;
    if (family === 4) return this.#allowed.check(address, 'ipv4') || !special.check(address, 'ipv4');
    const mapped = mappedV4(address);
    if (mapped !== undefined) return this.allows(mapped);
    if (this.#allowed.check(address, 'ipv6')) return true;
    return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
  }
}
