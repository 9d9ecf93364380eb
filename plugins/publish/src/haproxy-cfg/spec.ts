import type { FileEntry, Rendered, Section } from '@haptic/core/contract';
import { MOST_LINES, type HAProxyCfgSpec } from './schema.ts';

/** Bytes of the listings, and of all texts: together far below what etcd takes. */
const LISTING_BYTES = 192 * 1024;
const CONTENT_BYTES = 512 * 1024;

/** Kinds of files that are keys, or what stands beside them. */
const KEY_KINDS: ReadonlySet<FileEntry['kind']> = new Set(['certificate']);

/** What is published of a release. */
export function specOf(rendered: Rendered, content: boolean): HAProxyCfgSpec {
  const { plan } = rendered;
  const listing = new Budget(LISTING_BYTES);
  const files = listing.take(plan.files.map((file) => fileLine(file, plan.sections)));
  const sections = listing.take(plan.sections.map(sectionLine));
  const texts = content ? textsOf(rendered) : [];
  const shown = new Budget(CONTENT_BYTES).take(texts);
  return {
    planId: plan.id,
    releaseId: plan.releaseId,
    sections,
    files,
    omitted: {
      sections: plan.sections.length - sections.length,
      files: plan.files.length - files.length,
      content: texts.length - shown.length,
    },
    ...(content && { content: shown }),
  };
}

/** As many as there is room for, in their order. */
class Budget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take<T>(lines: readonly T[]): T[] {
    const taken: T[] = [];
    for (const line of lines) {
      const size = Buffer.byteLength(JSON.stringify(line)) + 1;
      if (size > this.#left || taken.length === MOST_LINES) continue;
      this.#left -= size;
      taken.push(line);
    }
    return taken;
  }
}

/** Not even a digest of what is secret, nor a name that may be made of one: a short secret can be guessed by it. */
function sectionLine({ kind, name, digest, secret = false }: Section): HAProxyCfgSpec['sections'][number] {
  return secret ? { kind, secret } : { kind, name, digest };
}

function isSecret({ kind, secret = false }: FileEntry): boolean {
  return secret || KEY_KINDS.has(kind);
}

function fileLine(file: FileEntry, sections: readonly Section[]): HAProxyCfgSpec['files'][number] {
  const { path, kind, size, digest } = file;
  if (isSecret(file)) return { path, kind, secret: true };
  const hides = kind === 'config' && sections.some(({ secret = false }) => secret);
  return hides ? { path, kind, size } : { path, kind, size, digest };
}

function textsOf({ plan, files }: Rendered): readonly { readonly path: string; readonly text: string }[] {
  return plan.files
    .filter((file) => !isSecret(file))
    .map(({ path, kind }) => {
      const bytes = files.read(path);
      return { path, text: kind === 'config' ? withoutSecrets(bytes, plan.sections) : decode(bytes) };
    });
}

/** The main configuration is its sections, one behind the other. */
function withoutSecrets(bytes: Uint8Array, sections: readonly Section[]): string {
  let at = 0;
  const parts = sections.map(({ kind, length, secret = false }) => {
    const part = bytes.subarray(at, at + length);
    at += length;
    return secret ? `# a secret ${kind}\n` : decode(part);
  });
  return parts.join('');
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
