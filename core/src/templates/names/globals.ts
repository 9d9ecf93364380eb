import type { GlobalInput, MemberDoc, MergedConfig, RenderPlan, StoreView } from '../../contract/index.ts';
import type { KnownGlobal } from './known.ts';
import { compareVersions } from './versions.ts';

/** Oldest version that has a feature which templates may want to know of. */
const features: Readonly<Record<string, { readonly since: string; readonly doc: string }>> = {
  runtimeBackends: { since: '3.4', doc: 'backends can be added and removed without a reload' },
  headersBin: { since: '3.4', doc: 'set-headers-bin and add-headers-bin' },
  boolSampleConversion: { since: '3.2', doc: 'tune.lua.bool-sample-conversion' },
};

const watchMembers: readonly MemberDoc[] = [
  { name: 'served', doc: 'false where the optional watch is not served' },
  { name: 'list', doc: 'list() → all objects, by namespace and name' },
  { name: 'get', doc: 'get(namespace, name) → the object, or undefined' },
  { name: 'by', doc: 'by(index, …keys) → objects whose indexed paths have these values' },
];

function watchGlobal(view: StoreView, name: string): object {
  const watch = view.watch(name);
  return Object.freeze({
    served: watch.served,
    list: () => watch.list(),
    get: (namespace: string, object: string) => watch.get(namespace, object),
    by: (index: string, ...keys: readonly string[]) => watch.by(index, ...keys),
  });
}

const resources: KnownGlobal = {
  name: 'resources',
  doc: 'The watched objects, by name of the watch: resources.<watch>.list(), .get(namespace, name), .by(index, …keys), .served.',
  members: ({ watchedResources }: MergedConfig) =>
    Object.keys(watchedResources).flatMap((watch) =>
      watchMembers.map(({ name, doc }) => ({ name: `${watch}.${name}`, doc })),
    ),
  build: ({ view, config }: GlobalInput) => {
    const entries = Object.keys(config.watchedResources).map((name) => [name, watchGlobal(view, name)]);
    return Object.freeze(Object.fromEntries(entries));
  },
};

const settings: KnownGlobal = {
  name: 'settings',
  doc: "The configuration's settings, merged over all libraries.",
  members: (config) => Object.keys(config.settings).map((name) => ({ name, doc: '' })),
  build: (input) => input.settings,
};

const haproxy: KnownGlobal = {
  name: 'haproxy',
  doc: 'What the HAProxy fleet is and can do.',
  members: () => [
    { name: 'version', doc: 'lowest version of the fleet, such as 3.4.7' },
    { name: 'paths.base', doc: "base directory of a pod's files" },
    { name: 'paths.workerSocket', doc: "path of the worker's stats socket" },
    ...Object.entries(features).map(([name, { since, doc }]) => ({
      name: `supports.${name}`,
      doc: `${doc} (since ${since})`,
    })),
  ],
  build: ({ fleet }) => {
    const supports = Object.entries(features).map(([name, { since }]) => [
      name,
      compareVersions(fleet.haproxyVersion, since) >= 0,
    ]);
    return Object.freeze({
      version: fleet.haproxyVersion,
      paths: Object.freeze({ ...fleet.paths }),
      supports: Object.freeze(Object.fromEntries(supports)),
    });
  },
};

const current: KnownGlobal = {
  name: 'current',
  doc: 'The last accepted render, undefined before there is one: write current?.servers.',
  members: () => [
    { name: 'servers', doc: 'servers of each backend, by its name' },
    { name: 'files', doc: 'digests of files, by path' },
  ],
  build: (_input, plan: RenderPlan | undefined) => {
    if (plan === undefined) return undefined;
    const servers = Object.entries(plan.backends).map(([name, backend]) => [name, backend.servers]);
    const files = plan.files.map(({ path, digest }) => [path, digest]);
    return Object.freeze({ servers: Object.fromEntries(servers), files: Object.fromEntries(files) });
  },
};

const files: KnownGlobal = {
  name: 'files',
  doc: 'Makes files: files.put(kind, name, text) → path; kind is "file" or "ca".',
  members: () => [{ name: 'put', doc: 'put(kind, name, text) → path of the file that is made' }],
  build: () => Object.freeze({}),
};

export const builtInGlobals: readonly KnownGlobal[] = [resources, settings, haproxy, current, files];
