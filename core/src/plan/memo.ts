import type { FileEntry, Section } from '../contract/index.ts';
import type { CertificateDeclaration } from '../templates/output.ts';
import type { Body } from './backend-body.ts';
import type { BackendMemo } from './backend-section.ts';
import { DigestTree } from './digest-tree.ts';
import type { Declared } from './file-part.ts';
import { factsOf, type Hash, type TextFacts } from './hash.ts';
import type { BuiltMap } from './map-file.ts';
import { MainConfigText } from './main-config-text.ts';
import { Recent } from './recent.ts';
import type { LaidOut } from './sections.ts';

function describeFile({ path, kind, digest, reloadOnChange }: FileEntry): string {
  return `${path}\n${kind}\n${digest}\n${reloadOnChange}`;
}

/**
 * What assemblies hand to the next one, so that unchanged parts cost nothing and stay the identical objects. It never decides what
 * a plan says: an assembly with an empty memo gives an equal plan. Holds what the last renders used, no more.
 */
export class PlanMemo implements BackendMemo {
  readonly hash: Hash;
  readonly bodies = new Recent<Body>();
  readonly profiles = new Recent<{
    readonly name: string;
    readonly text: string;
    readonly facts: TextFacts;
  }>();
  /** The last layout that had no problem. */
  layout: LaidOut | undefined;
  readonly sectionDigests: DigestTree<Section>;
  readonly fileDigests: DigestTree<FileEntry>;
  readonly mainConfig: MainConfigText;
  /** Declarations that come again are the identical objects. */
  readonly certificates = new WeakMap<CertificateDeclaration, Declared>();
  readonly #facts = new Recent<TextFacts>();
  /** By name. */
  readonly maps = new Map<string, BuiltMap>();
  constructor(hash: Hash) {
    this.hash = hash;
    this.sectionDigests = new DigestTree(hash, ({ digest }) => digest);
    this.fileDigests = new DigestTree(hash, describeFile);
    this.mainConfig = new MainConfigText(hash);
  }

  /** Hashed once while renders keep using the text. */
  factsOf(text: string): TextFacts {
    return this.#facts.get(text, () => factsOf(text, this.hash));
  }

  /** Called once a render. */
  turn(): void {
    for (const part of [this.#facts, this.bodies, this.profiles]) part.turn();
  }
}
