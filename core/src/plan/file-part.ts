import { filePath, type FileEntry, type FileKind, type Provenance } from '../contract/index.ts';
import type { RenderOutput } from '../templates/output.ts';
import { pemRefusal } from '../templates/runtime/pem.ts';
import { fileNameFault } from './file-name.ts';
import type { TextFacts } from './hash.ts';
import type { PlanMemo } from './memo.ts';
import type { Problems } from './problems.ts';

/** A file of the set with its text and what declared its lines. */
export interface FilePart {
  readonly entry: FileEntry;
  /** Put together when somebody reads it. */
  text(): string;
  locate(line: number): Provenance | undefined;
}

interface Declared {
  readonly path: string;
  readonly kind: FileKind;
  readonly text: string;
  readonly reloadOnChange: boolean;
  readonly secret: boolean;
  readonly provenance: Provenance;
}

export function filePart(
  file: Omit<FileEntry, 'digest' | 'size' | 'secret'> & { readonly secret: boolean },
  { digest, length }: TextFacts,
  content: Pick<FilePart, 'text' | 'locate'>,
): FilePart {
  const { path, kind, reloadOnChange } = file;
  const secret = file.secret ? { secret: true } : {};
  return {
    entry: Object.freeze({ path, kind, digest, size: length, reloadOnChange, ...secret }),
    ...content,
  };
}

/** Files that stand as their templates wrote them. An equal declaration may be repeated: every route of a kind makes it. */
class DeclaredFiles {
  readonly #files = new Map<string, Declared>();
  readonly #problems: Problems;

  constructor(problems: Problems) {
    this.#problems = problems;
  }

  add(name: string, file: Declared): void {
    const fault = fileNameFault(name);
    if (fault !== undefined) return this.#problems.add(file.provenance, fault);
    if (!file.text.isWellFormed())
      this.#problems.add(file.provenance, `file "${file.path}" holds a lone surrogate`);
    const first = this.#files.get(file.path);
    if (first === undefined) {
      this.#files.set(file.path, file);
    } else if (
      first.text !== file.text ||
      first.reloadOnChange !== file.reloadOnChange ||
      first.secret !== file.secret
    ) {
      this.#problems.twice(`file "${file.path}"`, first.provenance, file.provenance);
    }
  }

  parts(memo: PlanMemo): readonly FilePart[] {
    return [...this.#files.values()].map((file) =>
      filePart(file, memo.factsOf(file.text), { text: () => file.text, locate: () => file.provenance }),
    );
  }
}

/** With line ends as the other files have them: Secrets come from everywhere. */
function normalizePem(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

/** Certificates, CA files and plain files. */
export function buildFiles(output: RenderOutput, memo: PlanMemo, problems: Problems): readonly FilePart[] {
  const declared = new DeclaredFiles(problems);
  for (const file of output.files) {
    const text = file.kind === 'ca' ? normalizePem(file.text) : file.text;
    const fault = file.kind === 'ca' ? pemRefusal(text) : undefined;
    if (fault !== undefined) problems.add(file.provenance, `CA file "${file.name}" ${fault}`);
    declared.add(file.name, { ...file, text, path: filePath(file.kind, file.name) });
  }
  for (const { name, pem, provenance } of output.certificates) {
    const text = normalizePem(pem);
    const fault = pemRefusal(text);
    if (fault !== undefined) problems.add(provenance, `certificate "${name}" ${fault}`);
    const path = filePath('certificate', name);
    declared.add(name, { path, kind: 'certificate', text, reloadOnChange: true, secret: true, provenance });
  }
  return declared.parts(memo);
}
