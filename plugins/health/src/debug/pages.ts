import type { FastifyInstance } from 'fastify';
import { didYouMean, type ControllerAccess, type Pod, type StoreView } from '@haptic/core/contract';
import { loopbackOnly } from './loopback.ts';
import { addMemoryPages } from './memory.ts';
import { shownFiles, shownObject, shownPlan, shownPod } from './redact.ts';

export interface DebugParts {
  readonly controller: ControllerAccess;
  readonly fleet: () => readonly Pod[];
  /** Heap snapshots and CPU profiles too. */
  readonly memory: boolean;
}

const PAGES: Readonly<Record<string, string>> = {
  config: 'the configuration that serves, merged',
  plan: 'the last plan that every judge passed',
  files: 'the files of that plan',
  events: 'the Events that it asks for',
  resources: 'watched resources: counts, or the objects of ?watch=NAME',
  baselines: 'what every pod runs',
  quarantine: 'objects that are refused, and what is served in their place',
  gate: 'whether renders go out before HAProxy has judged them',
};

/** `/debug/…`, for this machine alone, without anything secret. */
export function addDebugPages(server: FastifyInstance, { controller, fleet, memory }: DebugParts): void {
  void server.register(
    async (debug) => {
      debug.addHook('onRequest', loopbackOnly);
      debug.get('/', () => PAGES);
      debug.get('/config', () => controller.status().config ?? null);
      debug.get('/plan', () => mapped(controller.status().plan, shownPlan));
      debug.get('/files', () => mapped(controller.status().plan, shownFiles));
      debug.get('/events', () => controller.status().plan?.events ?? []);
      debug.get('/resources', async (request, reply) => {
        const { watch } = request.query as { readonly watch?: string };
        const view = controller.status().input?.view;
        if (view === undefined) return null;
        if (watch === undefined) return counts(view);
        if (view.watches.includes(watch)) return view.watch(watch).list().map(shownObject);
        const error = `nothing is watched under the name "${watch}"${didYouMean(watch, view.watches)}`;
        return reply.code(404).send({ error });
      });
      debug.get('/baselines', () => fleet().map(shownPod));
      debug.get('/quarantine', () => controller.status().quarantine ?? []);
      debug.get('/gate', () => controller.status().gate ?? null);
      if (memory) addMemoryPages(debug);
      debug.setNotFoundHandler((request, reply) => {
        const page = request.url.replace(/^\/debug\//, '').replace(/\?.*$/s, '');
        const error = `no such page: ${request.url}${didYouMean(page, Object.keys(PAGES))}; /debug/ lists what there is`;
        return reply.code(404).send({ error });
      });
    },
    { prefix: '/debug' },
  );
}

function mapped<T>(value: T | undefined, show: (value: T) => object): object | null {
  return value === undefined ? null : show(value);
}

function counts(view: StoreView): object {
  const entries = view.watches.map((name) => {
    const watch = view.watch(name);
    return [name, { served: watch.served, objects: watch.list().length }] as const;
  });
  return { revision: view.revision, watches: Object.fromEntries(entries) };
}
