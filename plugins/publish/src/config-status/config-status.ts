import { isDeepStrictEqual } from 'node:util';
import { z } from '@haptic/core/contract';
import {
  ApiError,
  configResource,
  FIELD_MANAGER,
  getObject,
  isApiError,
  mergeObject,
  type KubeApi,
} from '@haptic/kube';
import type { Pass } from '../writing/writer.ts';
import type { ConfigVerdict } from './verdict.ts';

/** What is read of a status that may be anybody's. */
const Live = z
  .looseObject({
    observedGeneration: z.number().optional().catch(undefined),
    conditions: z
      .array(z.looseObject({ type: z.string(), status: z.unknown(), lastTransitionTime: z.unknown() }))
      .catch([]),
  })
  .catch({ conditions: [] });

const TYPE = 'Validated';
const LONGEST_MESSAGE = 4_000;

interface ConfigStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly object[];
  readonly errors: readonly string[] | null;
}

export interface ConfigStatusParts {
  readonly api: KubeApi;
  readonly wall: () => number;
  /** The verdict stands in the status, and did not before. */
  readonly news: (verdict: ConfigVerdict) => void;
}

/** Keeps the last verdict in the status of a config. */
export class ConfigStatusWriter {
  readonly #parts: ConfigStatusParts;
  /** What was sent and not answered: it may stand there. */
  #sent: ConfigVerdict | undefined;

  constructor(parts: ConfigStatusParts) {
    this.#parts = parts;
  }

  /** Where it says something else; not over what is said about a later generation, and not into another object of the same name. */
  async write(verdict: ConfigVerdict, { signal }: Pick<Pass, 'signal'>): Promise<void> {
    const { api, wall, news } = this.#parts;
    const fields = await fieldsToWrite(api, verdict, wall(), signal);
    if (fields !== undefined) {
      this.#sent = verdict;
      const { namespace, name } = verdict.version;
      const key = { resource: configResource, namespace, name };
      const options = { subresource: 'status', fieldManager: FIELD_MANAGER, signal };
      await mergeObject(api, key, fields, options).catch((error: unknown) => {
        if (error instanceof ApiError) this.#sent = undefined;
        // It was deleted since we looked, and its status with it.
        if (!isApiError(error, 404)) throw error;
      });
    }
    if (this.#sent === verdict) news(verdict);
    this.#sent = undefined;
  }
}

/** Undefined where it says that already, or says something that counts more. */
async function fieldsToWrite(
  api: KubeApi,
  verdict: ConfigVerdict,
  wall: number,
  signal: AbortSignal,
): Promise<object | undefined> {
  const { namespace, name, uid } = verdict.version;
  const key = { resource: configResource, namespace, name };
  const live = await getObject(api, key, { signal });
  if (live === undefined || live.metadata.uid !== uid) return undefined;
  const before = Live.parse(live['status'] ?? {});
  if ((before.observedGeneration ?? 0) > verdict.version.generation) return undefined;
  const status = statusOf(verdict, before, wall);
  if (saysTheSame(live['status'], status)) return undefined;
  return { metadata: { uid, resourceVersion: live.metadata.resourceVersion }, status };
}

function statusOf(
  { version, reason, errors }: ConfigVerdict,
  before: z.output<typeof Live>,
  wall: number,
): ConfigStatus {
  const status = reason === 'ValidationSucceeded' ? 'True' : 'False';
  const last = before.conditions.find(({ type }) => type === TYPE);
  const own = {
    type: TYPE,
    status,
    observedGeneration: version.generation,
    lastTransitionTime:
      last?.status === status && typeof last.lastTransitionTime === 'string'
        ? last.lastTransitionTime
        : new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z'),
    reason,
    message: messageOf(errors),
  };
  const others = before.conditions.filter(({ type }) => type !== TYPE);
  return {
    observedGeneration: version.generation,
    conditions: [...others, own],
    errors: errors.length === 0 ? null : errors,
  };
}

function messageOf(errors: readonly string[]): string {
  const text = errors.length === 0 ? 'this version serves' : errors.join('\n');
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)} …` : text;
}

function saysTheSame(live: unknown, { errors, ...status }: ConfigStatus): boolean {
  return isDeepStrictEqual(live, errors === null ? status : { ...status, errors });
}
