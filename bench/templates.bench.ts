import type { KubeObject } from '@haptic/core/contract';
import { compileTemplates, templateConfig } from '@haptic/core/testing';
import { fixtureView } from '../core/src/store/index.ts';
import { compared, median, type BenchResult } from './bench.ts';

const ROUTES = 3_000;

interface Route {
  readonly name: string;
  readonly path: string;
  readonly header: string;
  readonly object: KubeObject;
}

const routes: readonly Route[] = Object.freeze(
  Array.from({ length: ROUTES }, (_, i) => {
    const metadata = Object.freeze({ namespace: 'ns', name: `r${i}` });
    const object = Object.freeze({ apiVersion: 'v1', kind: 'Route', metadata });
    return Object.freeze({ name: `ns_svc-${i}_80`, path: `/app/${i}`, header: `value ${i}`, object });
  }),
);

const main = `{% for r in data.routes %}
{% backend {name: r.name, from: "base", objects: r.object} %}
    http-request set-path {{ r.path }}
    http-request set-header X-Route "{{ r.header }}"
{% endbackend %}
{% entry "hosts", r.name, r.name %}
{% entry "hosts", "a/" + r.name, r.name %}
{% entry "paths", r.path, r.name %}
{% entry "paths", r.path + "/", r.name %}
{% endfor %}`;

/** The same routes, each re-used while it is the identical object. */
const remembered = `{% for r in data.routes %}
{% memo r %}
${main.slice(main.indexOf('\n') + 1, main.lastIndexOf('\n'))}
{% endmemo %}
{% endfor %}`;

/** The same text and entries, written by hand without escaping, checks or provenance. */
function byHand(): object {
  const pieces: object[] = [];
  const entries: object[] = [];
  for (const { name, path, header } of routes) {
    const body = `    http-request set-path ${path}\n    http-request set-header X-Route "${header}"\n`;
    pieces.push({ kind: 'backend', name, from: 'base', body });
    entries.push({ map: 'hosts', key: name, value: name }, { map: 'hosts', key: `a/${name}`, value: name });
    entries.push({ map: 'paths', key: path, value: name }, { map: 'paths', key: `${path}/`, value: name });
  }
  return { pieces, entries };
}

function renderer(main_: string, data: { routes: readonly Route[] }): () => Promise<unknown> {
  const set = { main: main_, maps: { hosts: {}, paths: {} }, data };
  const config = templateConfig(set);
  const program = compileTemplates(set);
  const paths = { base: '/', workerSocket: '/' };
  const input = { config, view: fixtureView({}, {}), fleet: { haproxyVersion: '3.4.0', paths } };
  const clock = { now: () => performance.now(), wall: () => 0, sleep: () => Promise.resolve() };
  const options = { signal: new AbortController().signal, deadlineMs: 10_000, clock };
  return () => program.render(input, options);
}

export async function run(): Promise<readonly BenchResult[]> {
  const render = await median(`render ${ROUTES} small routes`, renderer(main, { routes }));
  const baseline = await median('the same by hand', byHand);
  const data = { routes: [...routes] };
  const again = renderer(remembered, data);
  let turn = 0;
  const change = await median(`render ${ROUTES} small routes with memo, one changed`, () => {
    const at = (turn += 7) % ROUTES;
    data.routes[at] = Object.freeze({ ...routes[at]!, header: `value ${turn}` });
    return again();
  });
  const compile = await median('compile those templates', () =>
    compileTemplates({ main, maps: { hosts: {}, paths: {} }, data: { routes } }),
  );
  return [compared(render, baseline.value), compared(change, render.value), compile];
}
