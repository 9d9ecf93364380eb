import { duration, positiveDuration, z, type MergedConfig } from '@haptic/core/contract';

export const KEY = 'agent';

/** How agents are spoken to. */
export interface AgentSettings {
  /** Where the agents of discovered pods listen. */
  readonly port: number;
  /** How long an agent may take over an apply, milliseconds; a reload included. */
  readonly applyTimeout: number;
  /** How long an agent is asked to hold a state request, milliseconds. */
  readonly poll: number;
  /** How often agents are asked to read their files anew and compare, milliseconds. */
  readonly driftInterval: number;
  /** How what is new goes from one pod to the others. */
  readonly waves: {
    /** How long the first pod is watched before the others follow, milliseconds. */
    readonly soak: number;
    /** How many pods may reload at once; never all of several. */
    readonly size: number;
  };
}

/** `agent` of the config kind: what stands here goes before the options of the plugin. */
export const agentSchema = z
  .strictObject({
    port: z.int().min(1).max(65_535).exactOptional(),
    driftInterval: positiveDuration.exactOptional(),
    applyTimeout: positiveDuration.exactOptional(),
    waves: z
      .strictObject({ soak: duration.exactOptional(), size: z.int().positive().exactOptional() })
      .exactOptional(),
  })
  .optional();

/** Where nothing else is said. */
const PORT = 5_555;

/** What holds under this configuration, or before there is one. */
export function agentSettings(
  options: Omit<AgentSettings, 'port'>,
  merged: Pick<MergedConfig, 'owned'> | undefined,
): AgentSettings {
  const { waves, ...more } = (merged?.owned[KEY] ?? {}) as NonNullable<z.output<typeof agentSchema>>;
  const { applyTimeout, poll, driftInterval } = options;
  return {
    port: PORT,
    applyTimeout,
    poll,
    driftInterval,
    ...more,
    waves: { ...options.waves, ...waves },
  };
}
