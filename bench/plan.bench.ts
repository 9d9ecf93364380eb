import { OPERATION_NAMES, type MapContent, type Provenance, type Rendered } from '@haptic/core/contract';
import { sha256 } from '@haptic/core/controller';
import type { BackendPiece, EntryDeclaration, Piece, RenderOutput } from '@haptic/core/templates';
import { assemble, diff, PlanMemo } from '../core/src/plan/index.ts';
import { compared, median, type BenchResult } from './bench.ts';

const ROUTES = 3_000;
const origin = { kind: 'library', source: 'base' } as const;
const map = { match: 'str', value: 'str', secret: false, requires: [], origin } as const;
const maps: Readonly<Record<string, MapContent>> = {
  hosts: { ...map, layer: 'host' },
  paths: { ...map, match: 'beg', layer: 'path' },
};

interface Route {
  readonly backend: BackendPiece;
  readonly entries: readonly EntryDeclaration[];
}

function provenanceOf(name: string): Provenance {
  const object = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'default', name };
  return { snippet: 'backends', source: 'ingress', line: 3, objects: [object] };
}

function route(name: string): Route {
  const provenance = provenanceOf(name);
  const servers = [1, 2].map((index) => ({
    name: `${name}-pod-${index}`,
    address: '10.0.0.1',
    port: 8080,
    state: 'ready' as const,
    keywords: ['check', 'inter', '2s'],
    guid: `srv:${name}:${index}`,
  }));
  const body = 'balance leastconn\nhttp-request set-header X-Forwarded-Proto https if { ssl_fc }\n';
  return {
    backend: { kind: 'backend', name, from: 'base', mode: 'http', servers, body, secret: false, provenance },
    entries: [
      { map: 'hosts', key: `i80/${name}.example.org`, value: `|i80/${name}.example.org`, provenance },
      { map: 'paths', key: `i80/${name}.example.org/`, value: name, provenance },
    ],
  };
}

const provenance: Provenance = { snippet: 'main', source: 'base', line: 1, objects: [] };
const head: readonly Piece[] = [
  { kind: 'section', name: 'base', text: 'defaults base\n    mode http\n', secret: false, provenance },
  { kind: 'profiles', provenance },
];

/** What templates yield that hand out unchanged parts as the identical objects. */
function output(routes: readonly Route[]): RenderOutput {
  return {
    pieces: [...head, ...routes.map(({ backend }) => backend)],
    entries: routes.flatMap(({ entries }) => entries),
    files: [],
    certificates: [],
    crtLines: [],
    binds: [],
    k8sResources: [],
    statuses: [],
    events: [],
  };
}

function planned(next: Rendered, baseline: Rendered): number {
  const pod = { name: 'pod', ops: OPERATION_NAMES, haproxyVersion: '3.4.7', baseline: baseline.plan };
  const { mode, ops, reasons } = diff({ next: next.plan, pod });
  if (mode !== 'runtime') throw new Error(`the bench measures a ${mode}: ${reasons.join(', ')}`);
  return ops.length;
}

/** One of the routes is another one in every call. */
function oneChanged(count: number, fresh: (routes: readonly Route[]) => readonly Route[]): () => number {
  const memo = new PlanMemo(sha256);
  let routes: readonly Route[] = Array.from({ length: count }, (_, index) => route(`app-${index}`));
  let baseline = assemble(output(routes), { maps }, memo);
  let turn = 0;
  return () => {
    turn++;
    routes = routes.with(turn % count, route(`changed-${turn}`));
    const next = assemble(output(fresh(routes)), { maps }, memo);
    const reasons = planned(next, baseline);
    baseline = next;
    return reasons;
  };
}

function pem(name: string): string {
  const body = Buffer.from(name.padEnd(1_500)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
}

/** One certificate a route; one of them is renewed in every call. */
function oneRenewed(count: number): () => number {
  const memo = new PlanMemo(sha256);
  const names = Array.from({ length: count }, (_, index) => `app-${index}`);
  let certificates = names.map((name) => ({ name, pem: pem(name), provenance: provenanceOf(name) }));
  const crtLines = names.map((certificate) => {
    const sni = [`${certificate}.example.org`];
    return { list: 'tls', certificate, options: '', sni, provenance: provenanceOf(certificate) };
  });
  const all = output(names.map(route));
  let baseline = assemble({ ...all, certificates, crtLines }, { maps }, memo);
  let turn = 0;
  return () => {
    turn++;
    const old = certificates[turn % count]!;
    certificates = certificates.with(turn % count, { ...old, pem: pem(`${old.name} ${turn}`) });
    const next = assemble({ ...all, certificates, crtLines }, { maps }, memo);
    const operations = planned(next, baseline);
    baseline = next;
    return operations;
  };
}

export async function run(): Promise<readonly BenchResult[]> {
  const same = (routes: readonly Route[]): readonly Route[] => routes;
  const few = await median('plan: assemble and diff, 1 route of 30 changed', oneChanged(30, same));
  const many = await median(
    `plan: assemble and diff, 1 route of ${ROUTES} changed`,
    oneChanged(ROUTES, same),
  );
  const anew = await median(
    `plan: the same with every declaration made anew`,
    oneChanged(ROUTES, (routes) =>
      routes.map(({ backend, entries }) => ({
        backend: { ...backend },
        entries: entries.map((entry) => ({ ...entry })),
      })),
    ),
  );
  const all = output(Array.from({ length: ROUTES }, (_, index) => route(`app-${index}`)));
  const cold = await median(`plan: assemble ${ROUTES} routes without a memo`, () =>
    assemble(all, { maps }, new PlanMemo(sha256)),
  );
  const renewed = await median(
    `plan: assemble and diff, 1 certificate of ${ROUTES} renewed`,
    oneRenewed(ROUTES),
  );
  return [few, compared(many, few.value), compared(anew, many.value), compared(cold, many.value), renewed];
}
