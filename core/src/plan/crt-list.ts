import { didYouMean, filePath, type CrtList, type CrtListLine } from '../contract/index.ts';
import type { CrtLineDeclaration, RenderOutput } from '../templates/output.ts';
import { fileNameFault } from './file-name.ts';
import { filePart, type FilePart } from './file-part.ts';
import type { PlanMemo } from './memo.ts';
import type { Problems } from './problems.ts';

/** crt-lists know no quotes and no escapes; brackets are special anywhere (and can hang the parser). */
const FILTER = /^!?[A-Za-z0-9_.*/-]+$/;
const OPTIONS = /^[^[\]\0-\x1f\x7f]*$/;

/** Longer lines are fatal to HAProxy. */
const LONGEST_LINE = 65_000;

/** Why a crt-list cannot hold the line; undefined where it can. */
function crtLineFault({ options, sni, certificate }: CrtLineDeclaration): string | undefined {
  const filter = sni.find((name) => !FILTER.test(name));
  if (filter !== undefined)
    return `SNI filter ${JSON.stringify(filter.slice(0, 200))} must match ${FILTER.source}`;
  if (!OPTIONS.test(options)) return 'its options hold a bracket or a control character';
  const length = certificate.length + options.length + sni.reduce((sum, name) => sum + name.length + 1, 0);
  return length > LONGEST_LINE ? `it is longer than ${LONGEST_LINE} bytes` : undefined;
}

/** Only for a line without fault. */
function lineText({ certificate, options, sni }: CrtListLine): string {
  const group = options === '' ? [] : [`[${options}]`];
  return `${[certificate, ...group, ...sni].join(' ')}\n`;
}

export interface BuiltCrtList extends FilePart {
  readonly record: CrtList;
}

/** Declarations that a memo hands out again are the identical objects. */
const known = new WeakMap<CrtLineDeclaration, CrtListLine>();

function lineOf(declaration: CrtLineDeclaration): CrtListLine {
  const line = known.get(declaration);
  if (line !== undefined) return line;
  const { certificate, options, sni } = declaration;
  const fresh = Object.freeze({
    certificate: filePath('certificate', certificate),
    options: options.trim(),
    sni: Object.freeze([...sni]),
  });
  known.set(declaration, fresh);
  return fresh;
}

function build(name: string, declared: readonly CrtLineDeclaration[], memo: PlanMemo): BuiltCrtList {
  const lines = declared.map(lineOf);
  const text = lines.map(lineText).join('');
  const facts = memo.factsOf(text);
  const path = filePath('crt-list', name);
  const file = { path, kind: 'crt-list', reloadOnChange: true, secret: false } as const;
  const content = { text: () => text, locate: (line: number) => declared[line - 1]?.provenance };
  const record = Object.freeze({ lines: Object.freeze(lines), digest: facts.digest });
  return { ...filePart(file, facts, content), record };
}

export function buildCrtLists(
  output: RenderOutput,
  memo: PlanMemo,
  problems: Problems,
): readonly BuiltCrtList[] {
  const certificates = new Set(output.certificates.map(({ name }) => name));
  const lists = new Map<string, CrtLineDeclaration[]>();
  for (const line of output.crtLines) {
    const fault = fileNameFault(line.list) ?? crtLineFault(line);
    if (fault !== undefined) problems.add(line.provenance, `line of crt-list "${line.list}": ${fault}`);
    if (!certificates.has(line.certificate)) {
      const hint = didYouMean(line.certificate, certificates);
      problems.add(
        line.provenance,
        `crt-list "${line.list}": no certificate is named "${line.certificate}"${hint}`,
      );
    }
    const lines = lists.get(line.list);
    if (lines === undefined) lists.set(line.list, [line]);
    else lines.push(line);
  }
  return [...lists].map(([name, lines]) => build(name, lines, memo));
}
