import type {
  MemberDoc,
  MergedConfig,
  TemplateGlobal,
  TemplateHelper,
  TemplateNames,
} from '../../contract/index.ts';
import { encodingHelpers, type Sha256 } from './encodings.ts';
import { builtInGlobals } from './globals.ts';
import { listHelpers } from './lists.ts';
import type { KnownGlobal, KnownHelper } from './known.ts';
import { networkHelpers } from './network.ts';
import { effectHelpers, type EffectHelper } from './effects.ts';
import { textHelpers } from './texts.ts';
import { versionHelpers } from './versions.ts';

export interface NameDoc {
  readonly kind: 'global' | 'helper';
  readonly name: string;
  /** `name(a, b?) → type`; of a global its name. */
  readonly signature: string;
  readonly doc: string;
  readonly members: readonly MemberDoc[];
}

/** All names that templates see besides their own. */
export interface NameRegistry extends TemplateNames {
  readonly globals: ReadonlyMap<string, KnownGlobal>;
  readonly helpers: ReadonlyMap<string, KnownHelper>;
  /** The documentation of every name, sorted. */
  reference(): readonly NameDoc[];
}

const identifier = /^[A-Za-z_$][\w$]*$/;

/** The built-in names; plugins add theirs. Hashing is injected, since it is Node's. */
export function createNames(sha256: Sha256): NameRegistry {
  const names = new Names();
  for (const global of builtInGlobals) names.globals.set(global.name, global);
  const tables = [
    effectHelpers,
    textHelpers,
    listHelpers,
    encodingHelpers(sha256),
    versionHelpers,
    networkHelpers,
  ];
  for (const helper of tables.flat()) names.helper(helper);
  return names;
}

/** What docs/templates.md lists. */
export function namesReference(names: NameRegistry): readonly NameDoc[] {
  return names.reference();
}

class Names implements NameRegistry {
  readonly globals = new Map<string, KnownGlobal>();
  readonly helpers = new Map<string, KnownHelper>();

  global(global: TemplateGlobal): void {
    this.#claim(global.name);
    const { name, doc, members } = global;
    this.globals.set(name, {
      name,
      doc,
      members: () => members,
      build: (input) => global.build(input),
    });
  }

  helper(helper: TemplateHelper | EffectHelper): void {
    this.#claim(helper.name);
    this.helpers.set(helper.name, helper);
  }

  reference(): readonly NameDoc[] {
    const docs: NameDoc[] = [];
    for (const global of this.globals.values()) {
      const { name, doc } = global;
      docs.push({ kind: 'global', name, signature: name, doc, members: documented(global) });
    }
    for (const { name, signature, doc } of this.helpers.values()) {
      docs.push({ kind: 'helper', name, signature, doc, members: [] });
    }
    return docs.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #claim(name: string): void {
    if (!identifier.test(name)) throw new Error(`"${name}" is no name that a template could write`);
    if (this.globals.has(name) || this.helpers.has(name)) {
      throw new Error(`templates already have a name "${name}"`);
    }
  }
}

/** Members that depend on a configuration are described, not listed. */
function documented(global: KnownGlobal): readonly MemberDoc[] {
  return global.members({ watchedResources: {}, settings: {} } as unknown as MergedConfig);
}
