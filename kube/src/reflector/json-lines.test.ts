import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonLines } from './json-lines.ts';

async function* chunksOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  let start = 0;
  for (const end of ends) {
    yield bytes.subarray(start, end);
    start = end;
  }
}

async function collect(bytes: Buffer, cuts: readonly number[]): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const values of jsonLines(chunksOf(bytes, cuts))) found.push(...values);
  return found;
}

test('any values come through any cuts, also in the middle of a character', async () => {
  const value = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }));
  await fc.assert(
    fc.asyncProperty(fc.array(value), fc.array(fc.nat()), async (values, cuts) => {
      const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));
      expect(JSON.stringify(await collect(bytes, cuts))).toBe(JSON.stringify(values));
    }),
  );
});

test('a last line without its end is no value', async () => {
  expect(await collect(Buffer.from('{"a":1}\n{"b":2}'), [])).toEqual([{ a: 1 }]);
});

test('a line that is no JSON is refused', async () => {
  await expect(collect(Buffer.from('<html>\n'), [])).rejects.toThrow(SyntaxError);
});

test('a line without end is refused before it fills the memory', async () => {
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) yield Buffer.alloc(1024 * 1024, 'x');
  }
  const reading = async (): Promise<void> => {
    for await (const _ of jsonLines(endless())) continue;
  };
  await expect(reading()).rejects.toThrow('bytes');
});
