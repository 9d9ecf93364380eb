import { filePath, type FileEntry, type Provenance } from '../contract/index.ts';
import type { CertificateDeclaration, FileDeclaration, RenderOutput } from '../templates/output.ts';
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

/** A file as its template wrote it. */
export interface Declared {
  readonly part: FilePart;
  readonly text: string;
  readonly provenance: Provenance;
}

type Source = Omit<FileEntry, 'digest' | 'size' | 'secret'> &
  Pick<Declared, 'text' | 'provenance'> & { readonly name: string; readonly secret: boolean };

function declare(source: Source, memo: PlanMemo, problems: Problems): Declared | undefined {
  const { name, text, provenance } = source;
  const fault = fileNameFault(name);
  if (fault !== undefined) {
    problems.add(provenance, fault);
    return undefined;
  }
  if (!text.isWellFormed()) problems.add(provenance, `file "${source.path}" holds a lone surrogate`);
  const content = { text: () => text, locate: () => provenance };
  return { part: filePart(source, memo.factsOf(text), content), text, provenance };
}

function sameFile(a: Declared, b: Declared): boolean {
  const [{ entry }, { entry: other }] = [a.part, b.part];
  return a.text === b.text && entry.reloadOnChange === other.reloadOnChange && entry.secret === other.secret;
}

/** With line ends as the other files have them: Secrets come from everywhere. */
function normalizePem(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.endsWith('\n') ? lines : `${lines}\n`;
}

function declareFile(file: FileDeclaration, memo: PlanMemo, problems: Problems): Declared | undefined {
  const text = file.kind === 'ca' ? normalizePem(file.text) : file.text;
  const fault = file.kind === 'ca' ? pemRefusal(text) : undefined;
  if (fault !== undefined) problems.add(file.provenance, `CA file "${file.name}" ${fault}`);
  return declare({ ...file, text, path: filePath(file.kind, file.name) }, memo, problems);
}

/** There may be one of each host, and reading one costs more than writing its route. */
function declareCertificate(
  certificate: CertificateDeclaration,
  memo: PlanMemo,
  problems: Problems,
): Declared | undefined {
  const known = memo.certificates.get(certificate);
  if (known !== undefined) return known;
  const { count } = problems;
  const { name, pem, provenance } = certificate;
  const text = normalizePem(pem);
  const fault = pemRefusal(text);
  if (fault !== undefined) problems.add(provenance, `certificate "${name}" ${fault}`);
  const path = filePath('certificate', name);
  const file = { name, path, text, provenance, reloadOnChange: true, secret: true };
  const declared = declare({ ...file, kind: 'certificate' }, memo, problems);
  if (declared !== undefined && problems.count === count) memo.certificates.set(certificate, declared);
  return declared;
}

/** Certificates, CA files and plain files. An equal declaration may be repeated: every route of a kind makes it. */
export function buildFiles(output: RenderOutput, memo: PlanMemo, problems: Problems): readonly FilePart[] {
  const files = new Map<string, Declared>();
  const add = (file: Declared | undefined): void => {
    if (file === undefined) return;
    const { path } = file.part.entry;
    const first = files.get(path);
    if (first === undefined) files.set(path, file);
    else if (!sameFile(first, file)) problems.twice(`file "${path}"`, first.provenance, file.provenance);
  };
  for (const file of output.files) add(declareFile(file, memo, problems));
  for (const certificate of output.certificates) add(declareCertificate(certificate, memo, problems));
  return [...files.values()].map(({ part }) => part);
}
