import { duration, z } from '@haptic/core/contract';

/** Key of the config kind. */
export const PUBLISH_KEY = 'publish';

/** `publish` of the config kind. */
export const publishSettings = z
  .strictObject({
    /** The texts of files that hold no secrets stand in the HAProxyCfg, too. */
    content: z.boolean().default(false),
    /** The HAProxyCfg is written at most this often. */
    interval: duration.refine((ms) => ms >= 1_000, 'must be at least "1s"').prefault('5s'),
  })
  .prefault({});
export type PublishSettings = z.output<typeof publishSettings>;
