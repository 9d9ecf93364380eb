import { lookup as systemLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRules } from './addresses.ts';
import { forbidden } from './failure.ts';

/** How names are resolved; tests have their own. */
export type Lookup = (
  host: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Resolves to allowed addresses only. It is the connection's own look-up: what was checked is what is connected to, however often
 * the name changes its mind.
 */
function guardedLookup(rules: AddressRules, lookup: Lookup): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const allowed = addresses.filter(({ address }) => rules.allows(address));
      const [first] = allowed;
      if (first === undefined) {
        const found = addresses.map(({ address }) => address).join(', ');
        return done(forbidden(`${host} is at ${found}, and no such address is in \`allowAddresses\``), '', 0);
      }
      if (options.all === true) return done(null, allowed);
      done(null, first.address, first.family);
    });
  };
}

/** Connects to allowed addresses only. */
export function guardedConnector(
  rules: AddressRules,
  { timeoutMs, lookup = systemLookup }: { readonly timeoutMs: number; readonly lookup?: Lookup | undefined },
): buildConnector.connector {
  const connect = buildConnector({
    timeout: timeoutMs,
    allowH2: false,
    lookup: guardedLookup(rules, lookup),
  });
  return (options, done) => {
    // An address needs no look-up, and gets none.
    const address = options.hostname.replace(/^\[|\]$/g, '');
    if (isIP(address) !== 0 && !rules.allows(address)) {
      return done(forbidden(`the address ${address} is not in \`allowAddresses\``), null);
    }
    connect(options, done);
  };
}
