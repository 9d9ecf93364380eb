import type { KubeObject } from '@haptic/core/contract';
import { z } from 'zod';
import type { KubeApi } from '../api.ts';
import { isApiError } from '../api-error.ts';

/** Items stay as they came: their fields are the API's business. */
const ListPage = z.object({
  metadata: z.object({ resourceVersion: z.string().min(1), continue: z.string().optional() }),
  items: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string().min(1) }) })).nullish(),
});

export interface ListRequest {
  readonly path: string;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly pageSize: number;
  /** Milliseconds for one page. */
  readonly timeout: number;
}

export interface ListResult {
  /** Where a watch goes on from. */
  readonly resourceVersion: string;
  readonly items: readonly KubeObject[];
}

/** Lists that outlive the server's history are asked for again in pages this often, then in one piece. */
const PAGED_ATTEMPTS = 2;

/** A complete list at one revision, page by page; `take` makes of each raw item what is kept while its page is parsed. */
export async function listAll(
  api: KubeApi,
  request: ListRequest,
  take: (raw: Record<string, unknown>) => KubeObject | undefined,
  signal: AbortSignal,
): Promise<ListResult> {
  for (let attempt = 1; ; attempt++) {
    const paged = attempt <= PAGED_ATTEMPTS;
    try {
      return await listPages(api, { ...request, pageSize: paged ? request.pageSize : 0 }, take, signal);
    } catch (error) {
      // The token of the next page has expired: pages of two revisions would be a torn list.
      if (!paged || !isApiError(error, 410)) throw error;
    }
  }
}

async function listPages(
  api: KubeApi,
  { path, labelSelector, fieldSelector, pageSize, timeout }: ListRequest,
  take: (raw: Record<string, unknown>) => KubeObject | undefined,
  signal: AbortSignal,
): Promise<ListResult> {
  const items: KubeObject[] = [];
  const limit = pageSize > 0 ? String(pageSize) : undefined;
  let next: string | undefined;
  for (;;) {
    const query = { labelSelector, fieldSelector, limit, continue: next };
    const page = parsePage(await api.json({ path, query, timeout, signal }), path);
    for (const raw of page.items ?? []) {
      const object = take(raw);
      if (object !== undefined) items.push(object);
    }
    next = page.metadata.continue === '' ? undefined : page.metadata.continue;
    if (next === undefined) return { items, resourceVersion: page.metadata.resourceVersion };
  }
}

function parsePage(answer: unknown, path: string): z.output<typeof ListPage> {
  const parsed = ListPage.safeParse(answer);
  if (!parsed.success) throw new SyntaxError(`list of ${path}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
