import { z } from 'zod';

/** As every condition of the Kubernetes API. */
const condition = z.strictObject({
  type: z.string().min(1).max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().min(0).exactOptional(),
  lastTransitionTime: z.string().meta({ format: 'date-time' }),
  reason: z.string().min(1).max(1024),
  message: z.string().max(32_768),
});

/** What the leader says about a config: `Validated`, and everything that is wrong. */
export const configStatus = z.strictObject({
  observedGeneration: z.int().min(0).exactOptional(),
  conditions: z.array(condition).exactOptional(),
  errors: z.array(z.string()).exactOptional(),
});
