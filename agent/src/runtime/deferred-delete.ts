import { z } from 'zod';

/** What is out of use and goes as soon as nothing holds it any more. */
export const deferredDeleteSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('server'),
    backend: z.string(),
    name: z.string(),
    /** Unknown where the sender did not say. */
    keywords: z.array(z.string()).optional(),
    guid: z.string().optional(),
  }),
  /** `servers`: those that it may still have. */
  z.object({ kind: z.literal('backend'), name: z.string(), servers: z.array(z.string()) }),
  z.object({
    kind: z.literal('map'),
    map: z.string(),
    key: z.string(),
    /** Wall clock, milliseconds. */
    due: z.number(),
  }),
]);
export type DeferredDelete = z.output<typeof deferredDeleteSchema>;
export type DeferredServer = Extract<DeferredDelete, { kind: 'server' }>;
export type DeferredBackend = Extract<DeferredDelete, { kind: 'backend' }>;

export function serverId(backend: string, name: string): string {
  return `server ${backend}/${name}`;
}

export function backendId(name: string): string {
  return `backend ${name}`;
}

export function mapKeyId(map: string, key: string): string {
  return `map ${map} ${key}`;
}

/** How the state names it. */
export function idOf(item: DeferredDelete): string {
  if (item.kind === 'server') return serverId(item.backend, item.name);
  return item.kind === 'backend' ? backendId(item.name) : mapKeyId(item.map, item.key);
}
