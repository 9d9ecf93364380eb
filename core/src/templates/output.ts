import type { ContentRequest, JsonObject, PlannedEvent, Provenance, Server } from '../contract/index.ts';

/**
 * What running the templates yields: declarations in order, nothing hashed, nothing sorted. The plan assembly turns it into a
 * `Rendered`. Parts that a memo re-uses are the identical objects.
 */
export interface RenderOutput {
  readonly pieces: readonly Piece[];
  readonly entries: readonly EntryDeclaration[];
  readonly files: readonly FileDeclaration[];
  readonly certificates: readonly CertificateDeclaration[];
  readonly crtLines: readonly CrtLineDeclaration[];
  readonly binds: readonly { readonly address: string; readonly provenance: Provenance }[];
  readonly k8sResources: readonly {
    readonly name: string;
    readonly text: string;
    readonly provenance: Provenance;
  }[];
  readonly statuses: readonly JsonObject[];
  readonly events: readonly PlannedEvent[];
  /** Contents that were asked for; absent when none was. */
  readonly requests?: readonly ContentRequest[];
}

/** One piece of haproxy.cfg, in order of declaration. */
export type Piece = SectionPiece | BackendPiece | ProfilesPiece;

/** `{% section "name" %}`: text as it will stand in the file, with a final newline. */
export interface SectionPiece {
  readonly kind: 'section';
  readonly name: string;
  readonly text: string;
  readonly secret: boolean;
  readonly provenance: Provenance;
}

/**
 * `{% backend {name, from, mode?, servers?, objects?, secret?} %}`. The body holds directives only; the assembly shares equal
 * bodies as a profile and writes the server lines itself.
 */
export interface BackendPiece {
  readonly kind: 'backend';
  readonly name: string;
  /** The `defaults` section that its profile inherits from. */
  readonly from: string;
  readonly mode: 'http' | 'tcp';
  readonly servers: readonly Server[];
  readonly body: string;
  readonly secret: boolean;
  readonly provenance: Provenance;
}

/** `{% profiles %}`: where the shared `defaults` of backends stand. */
export interface ProfilesPiece {
  readonly kind: 'profiles';
  readonly provenance: Provenance;
}

/** `{% entry "map", key, value %}`; `map` is the name in the configuration's `maps`. */
export interface EntryDeclaration {
  readonly map: string;
  readonly key: string;
  readonly value: string;
  readonly provenance: Provenance;
}

/** A configured file, or `files.put(kind, name, text)`. `name` is without folder; see `filePath`. */
export interface FileDeclaration {
  readonly kind: 'file' | 'ca';
  readonly name: string;
  readonly text: string;
  readonly reloadOnChange: boolean;
  readonly secret: boolean;
  readonly provenance: Provenance;
}

/** `{% cert name, secret %}` or a configured certificate: PEM text. */
export interface CertificateDeclaration {
  readonly name: string;
  readonly pem: string;
  readonly provenance: Provenance;
}

/** `{% crt list, cert, options, sni %}` */
export interface CrtLineDeclaration {
  readonly list: string;
  readonly certificate: string;
  readonly options: string;
  readonly sni: readonly string[];
  readonly provenance: Provenance;
}
