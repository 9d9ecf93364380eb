import type { TemplateHelper } from '../../contract/index.ts';
import { asList, asText } from './arguments.ts';
import { isIp, isWithin, readPrefix, type Prefix } from './ip.ts';

function prefix(value: unknown): Prefix {
  const text = asText(value);
  const found = readPrefix(text);
  if (found === undefined) throw new Error(`${JSON.stringify(text.slice(0, 60))} is no IP address or CIDR`);
  return found;
}

export const networkHelpers: readonly TemplateHelper[] = [
  {
    name: 'isIp',
    signature: 'isIp(text) → boolean',
    doc: 'Whether a text is a literal IPv4 or IPv6 address.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => isIp(asText(text)),
  },
  {
    name: 'isCidr',
    signature: 'isCidr(text) → boolean',
    doc: 'Whether a text is an address with a prefix length, such as 10.0.0.0/8.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => asText(text).includes('/') && readPrefix(asText(text)) !== undefined,
  },
  {
    name: 'ipFamily',
    signature: 'ipFamily(text) → number',
    doc: '4 or 6, of an address or CIDR.',
    minArgs: 1,
    maxArgs: 1,
    call: (text) => prefix(text).family,
  },
  {
    name: 'inCidr',
    signature: 'inCidr(address, cidrs) → boolean',
    doc: 'Whether an address (or CIDR) lies in a CIDR, or in one of a list of them.',
    minArgs: 2,
    maxArgs: 2,
    call: (address, cidrs) => {
      const inner = prefix(address);
      const outers = typeof cidrs === 'string' ? [cidrs] : asList(cidrs);
      return outers.some((outer) => isWithin(inner, prefix(outer)));
    },
  },
];
