import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { haproxyWords, renderTemplates } from '@haptic/core/testing';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion, type Haproxy } from '../haproxy/versions.ts';
import { hostileValues, isSoak, seed } from './hostile-values.ts';

const run = promisify(execFile);
const VALUES = isSoak ? 20_000 : 300;
/** Values in one configuration. */
const BATCH = 1_000;

/** Places of a value, and the word that each must become; `@` is the value. */
const places: readonly (readonly [place: string, word: string])[] = [
  ['@', '@'],
  ['a@b', 'a@b'],
  ['"@"', '@'],
  ["'@'", '@'],
  ['"a @ b"c', 'a @ bc'],
  [`x"@"'@'@`, 'x@@@'],
  ['@@', '@@'],
  ['\\ @', ' @'],
];

/** Lua that appends its arguments in hex, one call a line: what HAProxy read, exactly. */
const dump = `local out = io.open("words.txt", "a")
local words = table.pack(...)
for i = 1, words.n do
  words[i] = words[i]:gsub(".", function(c) return string.format("%02x", c:byte()) end)
end
out:write(table.concat(words, " "), "\\n")
out:close()
`;

const body = `global
{% for value in data.values %}
    lua-load dump.lua start ${places.map(([place]) => place.replaceAll('@', '{{ value }}')).join(' ')} end # {{ value }}
{% endfor %}`;

async function wordsSeen({ binary }: Haproxy, config: string): Promise<string[][]> {
  const dir = await tempDir();
  await writeFile(join(dir, 'dump.lua'), dump);
  await writeFile(join(dir, 'haproxy.cfg'), `${config}frontend f\n    bind abns@none\n`);
  await run(binary, ['-c', '-C', dir, '-f', 'haproxy.cfg'], { timeout: 60_000, killSignal: 'SIGKILL' });
  const lines = (await readFile(join(dir, 'words.txt'), 'utf8')).split('\n').slice(0, -1);
  return lines.map((line) => line.split(' ').map((word) => Buffer.from(word, 'hex').toString()));
}

function expectedWords(value: string): string[] {
  return ['start', ...places.map(([, word]) => word.replaceAll('@', () => value)), 'end'];
}

describe(`seed ${seed}`, () => {
  forEachVersion((haproxy) => {
    test(`${VALUES} values are the words that HAProxy reads, and no others`, async () => {
      const values = hostileValues(VALUES, seed);
      for (let from = 0; from < values.length; from += BATCH) {
        const batch = values.slice(from, from + BATCH);
        const { pieces } = await renderTemplates({ body, data: { values: batch } });
        const [piece] = pieces;
        if (piece?.kind !== 'section') throw new Error('no section was rendered');
        const expected = batch.map(expectedWords);
        expect(await wordsSeen(haproxy, piece.text)).toEqual(expected);
        // The splitter that unit tests use says the same as the program.
        const lines = piece.text.split('\n').slice(1, -1);
        expect(lines.map((line) => haproxyWords(line).slice(2))).toEqual(expected);
      }
    });
  });
});
