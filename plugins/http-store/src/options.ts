import { z } from 'zod';
import { parseCidr } from './network/addresses.ts';
import { isHostPattern } from './network/hosts.ts';

const host = z
  .string()
  .refine(
    isHostPattern,
    'expected a host in lower case, "*.example.com" for all below it, or "*" for every public one',
  );

const addresses = z
  .string()
  .refine((text) => parseCidr(text) !== undefined, 'expected an address or a CIDR such as "10.1.0.0/16"');

export const options = z.strictObject({
  /** Hosts that may be fetched from, redirects included; none unless they are named. */
  allowHosts: z.array(host).default([]),
  /** Addresses that may be connected to besides public ones. */
  allowAddresses: z.array(addresses).default([]),
  /** How many URLs the templates may ask for in one render. */
  maxUrls: z.int().min(1).max(1_000).default(32),
});

export type Options = z.output<typeof options>;
