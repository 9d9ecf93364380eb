import type { MapContent, ObjectRef, Provenance, Server } from '../contract/index.ts';
import type { BackendPiece, Piece, RenderOutput } from '../templates/output.ts';

/** A provenance that names one Ingress. */
export function provenanceOf(name: string, line = 1): Provenance {
  const object: ObjectRef = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    namespace: 'default',
    name,
  };
  return { snippet: 'main', source: 'base', line, objects: [object] };
}

export function section(name: string, text: string): Piece {
  return { kind: 'section', name, text, secret: false, provenance: { ...provenanceOf(name), objects: [] } };
}

export function server(name: string, overrides: Partial<Server> = {}): Server {
  return {
    name,
    address: '10.0.0.1',
    port: 8080,
    state: 'ready',
    keywords: [],
    guid: `sv:${name}`,
    ...overrides,
  };
}

export function backend(name: string, overrides: Partial<BackendPiece> = {}): BackendPiece {
  const fields = { from: 'base', mode: 'http', servers: [], body: '', secret: false } as const;
  return { kind: 'backend', name, ...fields, provenance: provenanceOf(name), ...overrides };
}

export const profiles: Piece = { kind: 'profiles', provenance: provenanceOf('profiles') };

export const base: Piece = section(
  'base',
  'defaults base\n    mode http\n    timeout connect 5s\n    timeout client 5s\n    timeout server 5s\n',
);

/** A declared map. */
export function mapContent(overrides: Partial<MapContent> = {}): MapContent {
  const fields = { match: 'str', value: 'str', layer: 'leaf', secret: false, requires: [] } as const;
  return { ...fields, origin: { kind: 'library', source: 'base' }, ...overrides };
}

/** What templates yield, with nothing in it but what is given; the base and the place of the profiles come first. */
export function renderOutput(overrides: Partial<RenderOutput> = {}): RenderOutput {
  return {
    pieces: [base, profiles],
    entries: [],
    files: [],
    certificates: [],
    crtLines: [],
    binds: [],
    k8sResources: [],
    statuses: [],
    events: [],
    ...overrides,
  };
}
