/** IP addresses and prefixes as text. An address is read into a list of 16-bit (IPv6) or 8-bit (IPv4) groups. */

const ipv4Part = /^(?:0|[1-9]\d{0,2})$/;
const ipv6Part = /^[0-9a-f]{1,4}$/i;

function readIpv4(text: string): number[] | undefined {
  const parts = text.split('.');
  if (parts.length !== 4 || !parts.every((part) => ipv4Part.test(part) && Number(part) <= 255))
    return undefined;
  return parts.map(Number);
}

function readGroups(text: string): number[] | undefined {
  if (text === '') return [];
  const groups: number[] = [];
  const parts = text.split(':');
  for (const [i, part] of parts.entries()) {
    if (i === parts.length - 1 && part.includes('.')) {
      const v4 = readIpv4(part);
      if (v4 === undefined) return undefined;
      groups.push(v4[0]! * 256 + v4[1]!, v4[2]! * 256 + v4[3]!);
    } else if (ipv6Part.test(part)) groups.push(Number.parseInt(part, 16));
    else return undefined;
  }
  return groups;
}

function readIpv6(text: string): number[] | undefined {
  const halves = text.split('::');
  if (halves.length > 2) return undefined;
  const head = readGroups(halves[0]!);
  const tail = halves.length === 2 ? readGroups(halves[1]!) : [];
  if (head === undefined || tail === undefined) return undefined;
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  return [...head, ...Array<number>(missing).fill(0), ...tail];
}

export interface Prefix {
  readonly family: 4 | 6;
  /** Bits, most significant first. */
  readonly bits: string;
  readonly length: number;
}

function bitsOf(address: string): { family: 4 | 6; bits: string } | undefined {
  // No address is longer; a long text is not looked at.
  if (address.length > 45) return undefined;
  const family = address.includes(':') ? 6 : 4;
  const groups = family === 6 ? readIpv6(address) : readIpv4(address);
  if (groups === undefined) return undefined;
  const width = family === 6 ? 16 : 8;
  return { family, bits: groups.map((group) => group.toString(2).padStart(width, '0')).join('') };
}

export function isIp(text: string): boolean {
  if (text.length > 45) return false;
  return (text.includes(':') ? readIpv6(text) : readIpv4(text)) !== undefined;
}

/** An address, or an address and a prefix length. Undefined for anything else. */
export function readPrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/');
  const read = bitsOf(slash === -1 ? text : text.slice(0, slash));
  if (read === undefined) return undefined;
  if (slash === -1) return { ...read, length: read.bits.length };
  const suffix = text.slice(slash + 1);
  if (!ipv4Part.test(suffix) || Number(suffix) > read.bits.length) return undefined;
  return { ...read, length: Number(suffix) };
}

/** Whether all of `inner` lies in `outer`. */
export function isWithin(inner: Prefix, outer: Prefix): boolean {
  if (inner.family !== outer.family || inner.length < outer.length) return false;
  return inner.bits.slice(0, outer.length) === outer.bits.slice(0, outer.length);
}
