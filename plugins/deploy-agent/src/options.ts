import { z } from 'zod';

const LOOPBACK = /^http:\/\/(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?\/?$/;

const common = {
  /** How long an agent may take over an apply, milliseconds; a reload included. */
  applyTimeout: z.int().positive().default(60_000),
  /** How long an agent is asked to hold a state request, milliseconds. */
  poll: z.int().positive().max(60_000).default(20_000),
  /** How often agents are asked to read their files anew and compare, milliseconds. */
  driftInterval: z.int().positive().default(60_000),
};

const podSchema = z
  .strictObject({
    name: z.string().min(1),
    /** Without TLS an agent is only spoken to on this machine: applies carry private keys. */
    url: z
      .string()
      .regex(LOOPBACK, 'expected http:// and a loopback address, e.g. http://127.0.0.1:5555')
      .optional(),
    socketPath: z.string().startsWith('/', 'expected an absolute path').optional(),
    tokenFile: z.string().min(1),
  })
  .refine(({ url, socketPath }) => (url === undefined) !== (socketPath === undefined), {
    error: 'expected either `url` or `socketPath`',
  });
export type StaticPod = z.output<typeof podSchema>;

const staticSchema = z.strictObject({
  mode: z.literal('static'),
  pods: z
    .array(podSchema)
    .default([])
    .refine((pods) => new Set(pods.map(({ name }) => name)).size === pods.length, {
      error: 'expected different names',
    }),
  ...common,
});

const localSchema = z.strictObject({
  mode: z.literal('local'),
  /** Keeps the files from one run to the next; a private folder that goes at the end without it. */
  dir: z.string().startsWith('/', 'expected an absolute path').optional(),
  /** HAProxy's binary; a bare name is looked for in PATH. */
  haproxy: z.string().min(1).default('haproxy'),
  /** How the `haptic` program is started: `agent …` and `haproxy …` follow `args`. */
  spawn: z.strictObject({ command: z.string().min(1), args: z.array(z.string()).default([]) }),
  /** Shortest time from one reload to the next, milliseconds. */
  reloadIntervalMin: z.int().min(0).default(0),
  /** How long requests may finish at the end, milliseconds. */
  drain: z.int().min(0).default(1_000),
  ...common,
});
export type LocalOptions = z.output<typeof localSchema>;

export const optionsSchema = z.discriminatedUnion('mode', [staticSchema, localSchema]);
