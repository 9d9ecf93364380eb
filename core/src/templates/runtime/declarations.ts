import {
  didYouMean,
  filePath,
  type JsonObject,
  type MapContent,
  type ObjectRef,
  type PlannedEvent,
  type Provenance,
} from '../../contract/index.ts';
import type { RenderOutput } from '../output.ts';
import { backendDeclaration, type BackendDeclaration } from './backend.ts';
import { crtLine } from './crt-line.ts';
import { shown } from './escape.ts';
import { checkFileName } from './file-name.ts';
import { mapEntryRefusal } from './map-entry.ts';
import { objectRef, objectRefs } from './object-ref.ts';
import { certificatePem } from './pem.ts';
import { limits } from './limits.ts';
import type { StepCounter } from './step-counter.ts';
import { plainSize } from './plain-size.ts';
import { checkSectionName, isSecretSection, type SectionDeclaration } from './section.ts';
import { SiteError } from './site-error.ts';
import { kindOf, text } from './values.ts';

/** Characters of output, and steps, that every declaration stands for besides its text. */
const DECLARATION = 64;
const DECLARATION_STEPS = 16;

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] };

const bindAddress = /^[^\s"'\\#$%{}\0-\x20\x7f]+$/;

/** Every list of the output. */
const kinds = [
  'pieces',
  'entries',
  'files',
  'certificates',
  'crtLines',
  'binds',
  'k8sResources',
  'statuses',
  'events',
] as const satisfies readonly (keyof RenderOutput)[];

/** Where each list of the output ended, in the order of `kinds`. */
export interface DeclaredCounts {
  readonly counts: readonly number[];
  readonly written: number;
}

/** What was declared in between. */
export interface Declared {
  readonly lists: readonly (readonly unknown[])[];
  readonly written: number;
}

/** Collects what templates declare, in order. */
export class Declarations {
  readonly output: Mutable<RenderOutput> = {
    pieces: [],
    entries: [],
    files: [],
    certificates: [],
    crtLines: [],
    binds: [],
    k8sResources: [],
    statuses: [],
    events: [],
  };
  /** The objects of the section or backend that is being rendered. */
  objects: readonly ObjectRef[] = [];
  /** Whether that section or backend is marked secret. */
  isSecret = false;
  readonly #maps: Readonly<Record<string, MapContent>>;

  readonly #rt: StepCounter;
  #written = 0;

  constructor(maps: Readonly<Record<string, MapContent>>, rt: StepCounter) {
    this.#maps = maps;
    this.#rt = rt;
  }

  /** Everything that is declared counts as output, for its text and for itself. */
  #declare(length: number, site: number): void {
    this.#written += length + DECLARATION;
    this.#rt.charge(DECLARATION_STEPS, site);
    this.#checkWritten(site);
  }

  #checkWritten(site: number): void {
    if (this.#written <= limits.output) return;
    throw new SiteError(site, `all that is written becomes longer than ${limits.output} characters`);
  }

  /** How much has been declared so far. */
  counts(): DeclaredCounts {
    const { output } = this;
    const counts = kinds.map((kind) => output[kind].length);
    return { counts, written: this.#written };
  }

  since({ counts, written }: DeclaredCounts): Declared {
    const lists = kinds.map((kind, i) => this.output[kind].slice(counts[i]));
    return { lists, written: this.#written - written };
  }

  /** What an earlier render declared. */
  again({ lists, written }: Declared, site: number): void {
    this.#written += written;
    this.#checkWritten(site);
    for (const [i, list] of lists.entries()) {
      const all = this.output[kinds[i]!] as unknown[];
      for (const item of list) all.push(item);
    }
  }

  /** Where a tag stands, and the objects of the block around it. */
  #from(provenance: Provenance, objects: readonly ObjectRef[] = this.objects): Provenance {
    return objects.length === 0 ? provenance : { ...provenance, objects };
  }

  openSection(name: unknown, objects: unknown, options: unknown, site: number): SectionDeclaration {
    const known = checkSectionName(name, site);
    this.objects = objectRefs(objects, site);
    this.isSecret = isSecretSection(options, site);
    return { name: known, secret: this.isSecret };
  }

  closeSection(opened: SectionDeclaration, body: string, provenance: Provenance, site: number): void {
    this.#declare(body.length, site);
    const piece = {
      kind: 'section',
      ...opened,
      text: withLineEnd(body),
      provenance: this.#from(provenance),
    } as const;
    this.output.pieces.push(piece);
    this.#close();
  }

  openBackend(declaration: unknown, site: number): BackendDeclaration {
    const opened = backendDeclaration(declaration, site);
    this.objects = objectRefs(opened.objects, site);
    this.isSecret = opened.secret;
    return opened;
  }

  closeBackend(
    { name, from, mode, servers, secret }: BackendDeclaration,
    body: string,
    provenance: Provenance,
    site: number,
  ): void {
    this.#declare(body.length, site);
    const where = this.#from(provenance);
    this.output.pieces.push({
      kind: 'backend',
      name,
      from,
      mode,
      servers,
      body: withLineEnd(body),
      secret,
      provenance: where,
    });
    this.#close();
  }

  #close(): void {
    this.objects = [];
    this.isSecret = false;
  }

  profiles(provenance: Provenance): void {
    this.output.pieces.push({ kind: 'profiles', provenance });
  }

  bind(address: unknown, provenance: Provenance, site: number): void {
    if (typeof address !== 'string' || !bindAddress.test(address)) {
      const found = typeof address === 'string' ? shown(address) : kindOf(address);
      throw new SiteError(site, `the address of a bind is ${found}, expected one word such as ":80"`);
    }
    this.#declare(address.length, site);
    this.output.binds.push({ address, provenance: this.#from(provenance) });
  }

  #map(name: unknown, site: number): MapContent {
    if (typeof name === 'string' && Object.hasOwn(this.#maps, name)) return this.#maps[name]!;
    const hint = typeof name === 'string' ? didYouMean(name, Object.keys(this.#maps)) : '';
    throw new SiteError(
      site,
      `no map is named ${typeof name === 'string' ? shown(name) : kindOf(name)}${hint}`,
    );
  }

  entry(map: unknown, key: unknown, value: unknown, provenance: Provenance, site: number): void {
    const content = this.#map(map, site);
    this.#entry(content, map as string, key, value, this.#from(provenance), site);
  }

  #entry(
    content: MapContent,
    map: string,
    key: unknown,
    value: unknown,
    from: Provenance,
    site: number,
  ): void {
    const keyText = typeof key === 'string' ? key : text(key, site);
    const valueText = typeof value === 'string' ? value : text(value, site);
    const why = mapEntryRefusal(content, keyText, valueText);
    if (why !== undefined) {
      const entry = content.secret ? 'an entry' : `key ${shown(keyText)}, value ${shown(valueText)}`;
      throw new SiteError(site, `map "${map}", ${entry}: ${why}`);
    }
    this.#declare(keyText.length + valueText.length, site);
    this.output.entries.push({ map, key: keyText, value: valueText, provenance: from });
  }

  entries(map: unknown, list: unknown, provenance: Provenance, site: number): void {
    const content = this.#map(map, site);
    if (!Array.isArray(list)) {
      throw new SiteError(site, `the entries are ${kindOf(list)}, expected a list of {key, value, objects?}`);
    }
    const around = this.#from(provenance);
    for (const item of list as readonly unknown[]) {
      if (typeof item !== 'object' || item === null) {
        throw new SiteError(site, `an entry is ${kindOf(item)}, expected {key, value, objects?}`);
      }
      const { key, value, objects } = item as Record<string, unknown>;
      const from = objects === undefined ? around : this.#from(provenance, objectRefs(objects, site));
      this.#entry(content, map as string, key, value, from, site);
    }
  }

  certificate(name: unknown, secret: unknown, provenance: Provenance, site: number): void {
    const objects = typeof secret === 'object' && secret !== null ? [objectRef(secret, site)] : this.objects;
    const pem = certificatePem(secret, site);
    this.#declare(pem.length, site);
    this.output.certificates.push({
      name: checkFileName(name, site),
      pem,
      provenance: this.#from(provenance, objects),
    });
  }

  crtLine(parts: readonly unknown[], provenance: Provenance, site: number): void {
    const line = crtLine(parts, site);
    this.#declare(line.options.length + line.sni.join(' ').length, site);
    this.output.crtLines.push({ ...line, provenance: this.#from(provenance) });
  }

  status(object: unknown, conditions: unknown, site: number): void {
    if (!Array.isArray(conditions)) {
      throw new SiteError(site, `the conditions of a status are ${kindOf(conditions)}, expected a list`);
    }
    this.#declare(guardedSize(conditions, site), site);
    const status = { object: { ...objectRef(object, site) }, conditions } as unknown as JsonObject;
    this.output.statuses.push(status);
  }

  warn(object: unknown, reason: unknown, message: unknown, site: number): void {
    if (typeof reason !== 'string' || !/^[A-Z][A-Za-z0-9]*$/.test(reason)) {
      throw new SiteError(site, 'the reason of a warning is one word such as "BackendNotFound"');
    }
    const event: PlannedEvent = { object: objectRef(object, site), reason, message: text(message, site) };
    this.#declare(event.message.length, site);
    this.output.events.push(event);
  }

  /** `files.put(kind, name, text)`: its path. */
  put(kind: unknown, name: unknown, content: unknown, provenance: Provenance, site: number): string {
    if (kind !== 'file' && kind !== 'ca')
      throw new SiteError(site, 'files.put makes files of kind "file" or "ca"');
    if (typeof content !== 'string' || content.includes('\0')) {
      throw new SiteError(site, `the content of a file is a text without NUL, not ${kindOf(content)}`);
    }
    const file = checkFileName(name, site);
    const from = this.#from(provenance);
    this.#declare(content.length, site);
    this.output.files.push({
      kind,
      name: file,
      text: content,
      reloadOnChange: true,
      secret: false,
      provenance: from,
    });
    return filePath(kind, file);
  }
}

function guardedSize(conditions: readonly unknown[], site: number): number {
  try {
    return plainSize(conditions);
  } catch (error) {
    throw new SiteError(site, `the conditions of a status are ${(error as Error).message}`);
  }
}

function withLineEnd(body: string): string {
  return body === '' || body.endsWith('\n') ? body : `${body}\n`;
}
