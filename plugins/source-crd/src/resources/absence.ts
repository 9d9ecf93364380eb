import type { Clock, Log, WatchContent } from '@haptic/core/contract';
import { Backoff, collectionPath, isApiError, type KubeApi, type Resource } from '@haptic/kube';

export interface AbsenceParts {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly log: Log;
  /** For words about it. */
  readonly name: string;
  readonly watch: WatchContent;
  /** As it was served until now; undefined: it never was. */
  readonly served: Resource | undefined;
}

const BACKOFF = { first: 500, most: 30_000 };
const TIMEOUT_MS = 10_000;

/**
 * Resolves when the server itself says that it knows no version of a kind which discovery does not list. A list without it is
 * no proof: a server that starts lists kinds of definitions before it has read them all.
 * @throws Cancelled when the signal aborts
 */
export async function confirmAbsence(parts: AbsenceParts, signal: AbortSignal): Promise<void> {
  const { name, clock, log } = parts;
  const backoff = new Backoff({ ...BACKOFF, random: Math.random });
  for (;;) {
    let why: unknown = 'its collection is there';
    try {
      if (await isAbsent(parts, signal)) return;
    } catch (error) {
      signal.throwIfAborted();
      why = error;
    }
    const fields = { watch: name, why, failures: backoff.failures };
    if (backoff.failures === 1) log.warn(fields, 'a kind is not listed by the API server, its objects stay');
    else log.debug(fields, 'a kind is not listed by the API server, its objects stay');
    await clock.sleep(backoff.next(why), signal);
  }
}

async function isAbsent({ api, watch, served }: AbsenceParts, signal: AbortSignal): Promise<boolean> {
  const { apiVersions, resources, namespaces } = watch;
  // Where rights are given for some namespaces only, the whole is forbidden whether there is such a kind or not.
  const namespace = served?.namespaced === false ? undefined : namespaces[0];
  for (const apiVersion of apiVersions) {
    const path = collectionPath({ apiVersion, resource: resources, kind: '', namespaced: true }, namespace);
    try {
      await api.json({ path, query: { limit: '1' }, timeout: TIMEOUT_MS, signal });
      return false;
    } catch (error) {
      // What may not be read is as good as absent where nothing was ever read of it: nobody grants what is not installed.
      const isUnreadable = served === undefined && isApiError(error, 403);
      if (!isUnreadable && !isApiError(error, 404)) throw error;
    }
  }
  return true;
}
