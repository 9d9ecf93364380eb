import { isIP } from 'node:net';
import { z, type FoundPod, type KubeObject } from '@haptic/core/contract';

const podSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string().min(1),
    creationTimestamp: z.string().default(''),
    deletionTimestamp: z.string().nullish(),
  }),
  status: z.object({ phase: z.string().optional(), podIP: z.string().refine((text) => isIP(text) > 0) }),
});

/** Their containers have ended, and their addresses may be others' by now. */
const ENDED: ReadonlySet<string | undefined> = new Set(['Succeeded', 'Failed']);

/**
 * The pods among these objects that can be spoken to, the oldest first. An address is that of the pod that was made last: whoever
 * had it before is gone, whatever is still written in its object.
 */
export function foundPods(objects: Iterable<KubeObject>): readonly FoundPod[] {
  const pods = [...objects]
    .flatMap((object) => podSchema.safeParse(object).data ?? [])
    .filter(({ status }) => !ENDED.has(status.phase))
    .toSorted(byAge);
  const holders = new Map(pods.map(({ metadata, status }) => [status.podIP, metadata.uid]));
  return pods
    .filter(({ metadata, status }) => holders.get(status.podIP) === metadata.uid)
    .map(({ metadata: { uid, name, deletionTimestamp }, status: { podIP } }) =>
      Object.freeze({ uid, name, address: podIP, stops: deletionTimestamp != null }),
    );
}

type Parsed = z.output<typeof podSchema>;

function byAge({ metadata: a }: Parsed, { metadata: b }: Parsed): number {
  const [left, right] = [a, b].map(({ creationTimestamp, name }) => `${creationTimestamp} ${name}`);
  return left! < right! ? -1 : Number(left! > right!);
}
