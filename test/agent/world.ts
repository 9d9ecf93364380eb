import type { MapContent, Rendered, RenderPlan } from '@haptic/core/contract';
import type { RenderOutput } from '@haptic/core/templates';
import { sha256 } from '../../core/src/controller/sha256.ts';
import { assemble, PlanMemo } from '../../core/src/plan/index.ts';
import {
  backend,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../../core/src/testing/render-output.ts';

export interface WorldServer {
  readonly port: number;
  readonly address?: string;
  readonly weight?: number;
  readonly state?: 'ready' | 'drain' | 'maint';
  readonly keywords?: readonly string[];
}

export interface WorldBackend {
  /** Directives that it shares with others of the same ones. */
  readonly body: string;
  readonly servers: Readonly<Record<string, WorldServer>>;
}

export interface CrtLine {
  readonly certificate: string;
  readonly options: string;
  readonly sni: readonly string[];
}

/** What a HAProxy of these tests is to serve. */
export interface World {
  readonly backends: Readonly<Record<string, WorldBackend>>;
  /** Host to backend. */
  readonly hosts: Readonly<Record<string, string>>;
  /** Path prefix to backend. */
  readonly paths?: Readonly<Record<string, string>>;
  /** Read by requests that are under way. */
  readonly leaves?: Readonly<Record<string, string>>;
  /** Regular expressions, tried in their order. */
  readonly rules?: readonly (readonly [pattern: string, value: string])[];
  /** Name to PEM. */
  readonly certificates?: Readonly<Record<string, string>>;
  readonly crtLines?: readonly CrtLine[];
  readonly authorities?: Readonly<Record<string, string>>;
  /** Files that HAProxy reads only when it starts. */
  readonly files?: Readonly<Record<string, string>>;
  /** Goes into the frontend: another text needs a reload. */
  readonly extra?: string;
}

export interface Place {
  readonly port: number | string;
  readonly tlsPort: number;
  readonly workerSocket: string;
}

export interface RendererOptions {
  /** Empty backends of every profile, for HAProxy that can not add any. */
  readonly spareBackends?: number;
}

/** Remembers what renders have in common, as a controller does. */
export class Renderer {
  readonly #memo = new PlanMemo(sha256);
  readonly #place: Place;
  readonly #spareBackends: number;

  constructor(place: Place, { spareBackends = 0 }: RendererOptions = {}) {
    this.#place = place;
    this.#spareBackends = spareBackends;
  }

  /** `current`: the plan that is to be left without a reload. */
  render(world: World, current?: RenderPlan): Rendered {
    const spareBackends = this.#spareBackends;
    const { hosts, paths = {}, leaves = {}, rules = [], certificates = {}, crtLines = [] } = world;
    const table = (map: string, entries: readonly (readonly [string, string])[]) =>
      entries.map(([key, value]) => ({ map, key, value, provenance: provenanceOf(map) }));
    const output = renderOutput({
      pieces: [
        section('global', globals(this.#place)),
        section('base', base),
        profiles,
        section('http', frontend(this.#place, world, spareBackends > 0)),
        ...Object.entries(world.backends).map(([name, { body, servers }]) =>
          backend(name, {
            body,
            servers: Object.entries(servers).map(([key, facts]) =>
              server(key, { address: '127.0.0.1', state: 'ready', guid: `srv:${name}:${key}`, ...facts }),
            ),
          }),
        ),
      ],
      entries: [
        ...table('hosts', Object.entries(hosts)),
        ...table('paths', Object.entries(paths)),
        ...table('leaves', Object.entries(leaves)),
        ...table('rules', rules),
      ],
      certificates: Object.entries(certificates).map(([name, pem]) => ({
        name,
        pem,
        provenance: provenanceOf(name),
      })),
      files: [...filesOf('ca', world.authorities), ...filesOf('file', world.files)],
      crtLines: crtLines.map((line) => ({
        list: 'main',
        ...line,
        provenance: provenanceOf(line.certificate),
      })),
    });
    return spareBackends > 0
      ? assemble(output, { maps: { ...maps, spares } }, this.#memo, {
          spareBackends,
          ...(current !== undefined && { current }),
        })
      : assemble(output, { maps }, this.#memo);
  }
}

function filesOf(kind: 'ca' | 'file', texts: Readonly<Record<string, string>> = {}): RenderOutput['files'] {
  return Object.entries(texts).map(([name, text]) => ({
    kind,
    name,
    text,
    reloadOnChange: kind === 'ca',
    secret: false,
    provenance: provenanceOf(name),
  }));
}

const map = (match: MapContent['match'], layer: MapContent['layer']): MapContent => ({
  match,
  value: 'str',
  layer,
  secret: false,
  requires: [],
  origin: { kind: 'library', source: 'base' },
});
const maps = {
  hosts: map('str', 'host'),
  paths: map('beg', 'path'),
  leaves: map('str', 'leaf'),
  rules: map('reg', 'list'),
};

const spares = map('str', 'leaf');

const base = `defaults base
    mode http
    timeout connect 2s
    timeout client 10s
    timeout server 10s
    timeout http-keep-alive 1s
    option idle-close-on-response
    option redispatch
    retries 3
`;

function globals({ workerSocket }: Place): string {
  return `global
    default-path config
    stats socket ${workerSocket} mode 600 level admin
    hard-stop-after 5s
`;
}

const bySpares = `    use_backend %[var(txn.be),map_str(maps/spares.map)] if { var(txn.be),map_str(maps/spares.map) -m found }
`;

function frontend({ port, tlsPort }: Place, { crtLines = [], extra }: World, hasSpares: boolean): string {
  const tls = crtLines.length > 0 ? `    bind 127.0.0.1:${tlsPort} ssl crt-list crt-lists/main.txt\n` : '';
  return `frontend http from base
    bind 127.0.0.1:${port}
${tls}    http-request return status 200 content-type text/plain string "fixed" if { path /fixed }
    http-after-response set-header x-served %[be_name]/%[srv_name]
    http-response set-header x-leaf %[var(txn.be),map_str(maps/leaves.map,none)]
    http-request set-var(txn.be) path,map_beg(maps/paths.map)
    http-request set-var(txn.be) path,map_reg(maps/rules.map) if !{ var(txn.be) -m found }
    http-request set-var(txn.be) req.hdr(host),field(1,:),lower,map_str(maps/hosts.map) if !{ var(txn.be) -m found }
    http-request return status 404 content-type text/plain string "no route" if !{ var(txn.be) -m found }
${extra === undefined ? '' : `    ${extra}\n`}${hasSpares ? bySpares : ''}    use_backend %[var(txn.be)]
`;
}
