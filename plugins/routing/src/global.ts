import type { GlobalInput, TemplateGlobal } from '@haptic/core/contract';
import { BackendResolver, type RoutedBackend } from './backends.ts';
import { RouteCompiler, type CompiledRoutes } from './compiler.ts';
import type { RouteSet, RouteSource, RouteWarning } from './service.ts';
import type { Shadowed } from './shadow.ts';
import { tenancySchema } from './tenancy.ts';

/** The template global `routing`. */
export interface Routing extends Pick<
  CompiledRoutes,
  'hosts' | 'paths' | 'lists' | 'weights' | 'redirects' | 'ids'
> {
  readonly backends: readonly RoutedBackend[];
  readonly shadowed: readonly Shadowed[];
  readonly warnings: readonly RouteWarning[];
}

/** Compiles what the sources contribute. */
export function routingGlobal(sources: ReadonlyMap<string, RouteSource>): TemplateGlobal {
  const compiler = new RouteCompiler();
  const resolver = new BackendResolver();
  return {
    name: 'routing',
    doc: 'The routes of all sources, compiled to map entries and backends.',
    members: [
      { name: 'hosts', doc: 'Entries of hosts.map: `{key, value, objects}`.' },
      { name: 'paths', doc: 'Entries of paths.map.' },
      { name: 'lists', doc: 'Entries of lists.map.' },
      { name: 'weights', doc: 'Entries of weights.map.' },
      { name: 'redirects', doc: 'Entries of redirects.map.' },
      { name: 'ids', doc: 'Entries of ids.map: the route behind a decision, for logs.' },
      { name: 'backends', doc: '`{name, namespace, service, port, profile, servers, objects}` each.' },
      { name: 'shadowed', doc: 'Routes without traffic: `{origin, reason, message, by}` each.' },
      { name: 'warnings', doc: 'What owners of objects should know: `{object, reason, message}` each.' },
    ],
    build: (input) => build(input, sources, compiler, resolver),
  };
}

function build(
  input: GlobalInput,
  sources: ReadonlyMap<string, RouteSource>,
  compiler: RouteCompiler,
  resolver: BackendResolver,
): Routing {
  const sets: readonly RouteSet[] = [...sources.values()].map((source) => source.routes(input));
  const { hosts } = tenancySchema.parse(input.config.owned['tenancy']);
  const compiled = compiler.compile({
    routes: sets.flatMap(({ routes }) => routes),
    listeners: sets.flatMap(({ listeners }) => listeners),
    tenancy: hosts,
  });
  const { paths, lists, weights, redirects, ids, shadowed } = compiled;
  return {
    hosts: compiled.hosts,
    paths,
    lists,
    weights,
    redirects,
    ids,
    backends: resolver.resolve(compiled.backends, input.view),
    shadowed,
    warnings: [...sets.flatMap(({ warnings }) => warnings), ...shadowed.map(warningOf)],
  };
}

function warningOf({ origin, reason, message }: Shadowed): RouteWarning {
  return { object: origin.object, reason, message };
}
