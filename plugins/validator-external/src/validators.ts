import { z } from 'zod';
import type { MergedConfig } from '@haptic/core/contract';
import { parseGlob } from './glob.ts';

/** The key of the config kind. */
export const VALIDATORS_KEY = 'validators';

/** What a socket's address has room for, its end excepted. */
const LONGEST_SOCKET_PATH = 107;

/** The longest `timeoutMs`. */
export const LONGEST_TIMEOUT_MS = 60_000;

const glob = z
  .string()
  .superRefine((text, context) => {
    try {
      parseGlob(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: `malformed glob "${text}": ${(error as Error).message}` });
    }
  })
  .describe('A glob over rendered paths; `*` and `?` do not cross `/`.');

export const validatorName = z
  .string()
  .regex(
    /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/,
    'expected lower-case letters, digits and "-", that begins and ends with a letter or a digit',
  )
  .max(63, 'a name may be at most 63 characters long');

const socketPath = z
  .string()
  .regex(/^\/[^\0]*$/, 'expected the absolute path of a unix socket')
  .refine((path) => Buffer.byteLength(path) <= LONGEST_SOCKET_PATH, {
    message: `the path of a socket may be at most ${LONGEST_SOCKET_PATH} bytes long`,
  });

const validator = z.strictObject({
  name: validatorName.describe('Of findings, metrics and the health body; unique.'),
  socketPath: socketPath.describe('Absolute; by convention /var/run/haptic-validators/<name>.sock.'),
  files: z.array(glob).min(1).describe('Each matching file is judged by a request of its own.'),
  dataFiles: z.array(glob).default([]).describe('Files that ride along with every request.'),
  timeoutMs: z
    .int()
    .min(1)
    .max(LONGEST_TIMEOUT_MS)
    .default(5_000)
    .describe('Covers getting a connection, writing and reading.'),
  maxConnections: z.int().min(1).max(32).default(4),
});

export type Validator = z.output<typeof validator>;

export const validatorsSchema = z
  .array(validator)
  .superRefine((validators, context) => {
    const seen = new Set<string>();
    for (const [index, { name }] of validators.entries()) {
      if (seen.has(name)) {
        const message = `two validators have the name "${name}"`;
        context.addIssue({ code: 'custom', path: [index, 'name'], message });
      }
      seen.add(name);
    }
  })
  .default([])
  .describe('Processes beside the controller that judge rendered files (protocol version 1).');

/** The validators that a configuration declares, in its order. */
export function validatorsOf({ owned }: Pick<MergedConfig, 'owned'>): readonly Validator[] {
  // Parsed by the schema above when the configuration was merged.
  return (owned[VALIDATORS_KEY] ?? []) as readonly Validator[];
}
