import { z } from 'zod';

const LOOPBACK = /^http:\/\/(127(\.\d{1,3}){3}|\[::1\]|localhost)(:\d+)?\/?$/;
const SECURE = /^https:\/\/[^/?#]+\/?$/;

/** PEM files, read anew when they change. */
const tlsSchema = z.strictObject({
  cert: z.string().min(1),
  key: z.string().min(1),
  ca: z.string().min(1),
  /** The DNS name that an agent's certificate must have, wherever the agent is. */
  agentName: z.string().min(1).default('haptic-agent'),
});

const common = {
  /** How long an agent may take over an apply, milliseconds; a reload included. */
  applyTimeout: z.int().positive().default(60_000),
  /** How long an agent is asked to hold a state request, milliseconds. */
  poll: z.int().positive().max(60_000).default(20_000),
  /** How often agents are asked to read their files anew and compare, milliseconds. */
  driftInterval: z.int().positive().default(60_000),
  /** How what is new goes from one pod to the others. */
  waves: z
    .strictObject({
      /** How long the first pod is watched before the others follow, milliseconds. */
      soak: z.int().min(0).default(1_000),
      /** How many pods may reload at once; never all of several. */
      size: z.int().positive().default(1),
    })
    .prefault({}),
};

const podSchema = z
  .strictObject({
    name: z.string().min(1),
    /** Without TLS an agent is only spoken to on this machine: applies carry private keys. */
    url: z
      .string()
      .refine((url) => LOOPBACK.test(url) || (SECURE.test(url) && URL.canParse(url)), {
        error:
          'expected https:// with the option `tls`, or http:// and a loopback address, e.g. http://127.0.0.1:5555',
      })
      .optional(),
    socketPath: z.string().startsWith('/', 'expected an absolute path').optional(),
    /** May be left out with https://. */
    tokenFile: z.string().min(1).optional(),
  })
  .refine(({ url, socketPath }) => (url === undefined) !== (socketPath === undefined), {
    error: 'expected either `url` or `socketPath`',
  })
  .refine((pod) => isSecure(pod) || pod.tokenFile !== undefined, {
    error: 'expected a `tokenFile`: without https:// it is what the controller is known by',
  });
export type StaticPod = z.output<typeof podSchema>;

/** Spoken to with TLS. */
export function isSecure({ url }: { readonly url?: string | undefined }): boolean {
  return url !== undefined && SECURE.test(url);
}

const staticSchema = z.strictObject({
  mode: z.literal('static'),
  /** How agents at https:// are spoken to. */
  tls: tlsSchema.optional(),
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

/** Where the chart mounts the Secret with the controller's certificate. */
const MOUNTED = {
  cert: '/etc/haptic/tls/tls.crt',
  key: '/etc/haptic/tls/tls.key',
  ca: '/etc/haptic/tls/ca.crt',
};

const discoverSchema = z.strictObject({
  mode: z.literal('discover'),
  tls: tlsSchema.prefault(MOUNTED),
  /** May be demanded by the agents besides the certificate. */
  tokenFile: z.string().min(1).optional(),
  ...common,
  // An agent gives a reload a minute.
  applyTimeout: common.applyTimeout.unwrap().default(75_000),
});
export type StaticOptions = z.output<typeof staticSchema>;
export type LocalOptions = z.output<typeof localSchema>;
export type DiscoverOptions = z.output<typeof discoverSchema>;
export type TlsOptions = z.output<typeof tlsSchema>;

export const optionsSchema = z
  .discriminatedUnion('mode', [staticSchema, localSchema, discoverSchema])
  .refine(
    (options) => options.mode !== 'static' || options.tls !== undefined || !options.pods.some(isSecure),
    {
      path: ['tls'],
      error: 'expected certificates: a pod is at https://',
    },
  );
