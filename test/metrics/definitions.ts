import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

export interface Documented {
  readonly name: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const DEFINITION =
  /name: '(?<name>haptic_\w+)',\s*help: (?<help>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),(?:\s*labels: \[(?<labels>[^\]]*)\])?/g;

/** Every metric that these sources define, by the form in which all of them do. */
export function definedIn(...folders: readonly string[]): readonly Documented[] {
  const files = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }));
  return files
    .filter((file) => !/\.test\.ts$|\/testing\/|\/dist\/|\/node_modules\//.test(file))
    .flatMap((file) => [...readFileSync(join(root, file), 'utf8').matchAll(DEFINITION)])
    .map(({ groups }) => ({
      name: groups!['name']!,
      help: groups!['help']!.slice(1, -1),
      labels: [...(groups!['labels'] ?? '').matchAll(/'(\w+)'/g)].map(([, label]) => label!),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** The rows of a page's table that begins behind a comment. */
export function tableBehind(comment: string, page: string): readonly Documented[] {
  const rows: Documented[] = [];
  for (const line of page
    .slice(page.indexOf(`<!-- ${comment}:`))
    .split('\n')
    .slice(1)) {
    if (line.startsWith('## ')) break;
    const row = /^\| `(?<name>haptic_\w+?)(?:\{(?<labels>[\w,]+)\})?`\s*\| (?<help>.*?)\s*\|$/.exec(
      line,
    )?.groups;
    if (row === undefined) continue;
    rows.push({ name: row['name']!, labels: row['labels']?.split(',') ?? [], help: row['help']! });
  }
  return rows;
}
