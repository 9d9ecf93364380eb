import { z } from '@haptic/core/contract';

/** Who this program is; the same for the same sources, whatever they were built for. */
export interface BuildFacts {
  readonly version: string;
  /** SHA-256 over the program's files. */
  readonly sourceHash: string;
}

/** Where the server listens, with the port that was chosen for port 0. */
export interface Listening {
  readonly host: string;
  readonly port: number;
}

export const options = z.strictObject({
  /** All interfaces, so that probes reach it; what is not for everybody answers on the loopback interface only. */
  host: z.string().min(1).default('0.0.0.0'),
  port: z.int().min(0).max(65_535).default(8080),
  /** Who this program is; read once, when somebody asks. */
  build: z.custom<() => Promise<BuildFacts>>((value) => typeof value === 'function').optional(),
  debug: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** Heap snapshots and CPU profiles: a snapshot holds everything in memory, keys of certificates among it. */
      memory: z.boolean().default(false),
    })
    .prefault({}),
  onListening: z.custom<(address: Listening) => void>((value) => typeof value === 'function').optional(),
});
