import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Fixtures, Rendered, RenderInput } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { compileConfig } from '@haptic/core/templates';
import type { RouteSource } from '@haptic/routing';
import { Renderer } from '../../core/src/render/renderer.ts';
import { fixtureView } from '../../core/src/store/index.ts';
import { freePort } from '../haproxy/free-port.ts';
import { origin } from '../haproxy/origin.ts';
import { rawRequest, type RawResponse } from '../haproxy/raw-request.ts';
import { startHaproxy, type RunningHaproxy } from '../haproxy/start-haproxy.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import type { Haproxy } from '../haproxy/versions.ts';
import { library, merged, sha256 } from './libraries.ts';
import { productionPlugins, templateNames, type RoutingPlugins } from './plugin-globals.ts';

export interface SiteOptions {
  /** Changes the text of the base library. */
  readonly editBase?: ((text: string) => string) | undefined;
  /** Watched objects; endpoints are added for every Service that has the port of `upstreamPort`. */
  readonly objects?: Fixtures;
  readonly sources?: readonly RouteSource[];
  readonly plugins?: RoutingPlugins | undefined;
  /** Of the operator's config: `settings`, `templateSnippets`, `tenancy`, … */
  readonly config?: object;
}

export interface Site {
  readonly rendered: Rendered;
  readonly haproxy: RunningHaproxy;
  readonly dir: string;
  /** Sends bytes to the listener of that port key. */
  send(portKey: string, bytes: string): Promise<RawResponse>;
  stop(): Promise<void>;
}

export const portKeys = ['i80', 'g80'] as const;

/** Names the backend of every answer, also those that HAProxy gives itself. */
const nameBackend = 'http-after-response set-header x-backend %[be_name]\n';

export interface RenderTarget {
  readonly listeners: object;
  readonly version: string;
  readonly dir: string;
}

/** Renders the libraries with everything that a real render uses. */
export async function render(options: SiteOptions, target: RenderTarget): Promise<Rendered> {
  const libraries = [await library('base', options.editBase), await library('ingress')];
  const config = merged(libraries, siteConfig(options.config, target.listeners));
  const names = await templateNames(options.plugins ?? productionPlugins, options.sources ?? []);
  const renderer = new Renderer((merged) => compileConfig(merged, names), sha256, systemClock);
  renderer.prepare(config, []);
  const view = fixtureView(config.watchedResources, options.objects ?? {});
  const paths = { base: target.dir, workerSocket: join(target.dir, 'worker.sock') };
  const input: RenderInput = { view, config, fleet: { haproxyVersion: target.version, paths } };
  return renderer.render(input, { signal: new AbortController().signal, caller: 'validate' });
}

function siteConfig(config: object = {}, listeners: object): object {
  const { settings = {}, templateSnippets = {}, ...rest } = config as Record<string, object>;
  return {
    ...rest,
    settings: { ...settings, listeners },
    templateSnippets: { 'profile-name-backend': { template: nameBackend }, ...templateSnippets },
  };
}

/** A HAProxy that serves what the libraries render for these routes and objects. */
export async function startSite(haproxy: Haproxy, options: SiteOptions): Promise<Site> {
  const dir = await tempDir();
  const ports = new Map<string, number>();
  for (const key of portKeys) ports.set(key, await freePort());
  const listeners = Object.fromEntries([...ports].map(([key, port]) => [key, { bind: `127.0.0.1:${port}` }]));
  const rendered = await render(options, { listeners, version: `${haproxy.minor}.0`, dir });
  await writeFiles(dir, rendered);
  const running = await startHaproxy({
    binary: haproxy.binary,
    dir,
    mode: 'plain',
    ports: [...ports.values()],
  });
  return {
    rendered,
    haproxy: running,
    dir,
    send: (portKey, bytes) => rawRequest(ports.get(portKey) ?? 0, bytes),
    stop: () => running.stop(),
  };
}

async function writeFiles(dir: string, { files }: Rendered): Promise<void> {
  for (const { path } of files.entries) {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), files.read(path));
  }
}

/** A backend's name or, for an answer of HAProxy's own, the status. */
export function outcomeOf(response: RawResponse): string {
  const backend = response.header('x-backend');
  return response.status === 200 && backend !== undefined ? backend : String(response.status);
}

export interface Upstream {
  readonly port: number;
}

/** One origin behind all Services: which backend a request took is in the answer's header. */
export async function upstream(): Promise<Upstream> {
  return origin('upstream');
}
