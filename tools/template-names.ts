import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createNames, namesReference, type NameDoc } from '@haptic/core/templates';

/** The list of globals and helpers in docs/templates.md. Run as a program, writes it. */

const BEGIN = '<!-- names: written by tools/template-names.ts -->\n';
const END = '<!-- end of names -->';

export const templatesPage = join(import.meta.dirname, '../docs/templates.md');

function line(name: string, doc: string): string {
  return `- \`${name}\`: ${doc.replaceAll('<', '\\<')}\n`;
}

function item({ signature, doc, members }: NameDoc): string {
  const below = members.map((member) => `  ${line(`${signature}.${member.name}`, member.doc)}`);
  return line(signature, doc) + below.join('');
}

/** The page with the list that the program has. */
export function withNames(page: string): string {
  const names = namesReference(createNames((text) => text));
  const list = (kind: NameDoc['kind']): string =>
    names
      .filter((name) => name.kind === kind)
      .map(item)
      .join('');
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new Error(`docs/templates.md has no "${BEGIN.trim()}" … "${END}"`);
  const text = `\n### Globals\n\n${list('global')}\n### Helpers\n\n${list('helper')}\n`;
  return page.slice(0, begin + BEGIN.length) + text + page.slice(end);
}

if (import.meta.main) await writeFile(templatesPage, withNames(await readFile(templatesPage, 'utf8')));
