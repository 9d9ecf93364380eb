/** A list of digests, or what it has in common with another list as `[index, count]`. */
export type ChunkParts = (string | [from: number, count: number])[];

/** The list that the parts stand for; undefined when they speak of what the other list has not, or of more than `most`. */
export function expandChunks(
  parts: Readonly<ChunkParts>,
  base: readonly string[],
  most: number,
): readonly string[] | undefined {
  const list: string[] = [];
  for (const part of parts) {
    if (typeof part === 'string') list.push(part);
    else {
      const [from, count] = part;
      if (from + count > base.length || list.length + count > most) return undefined;
      for (let at = from; at < from + count; at += 1) list.push(base[at]!);
    }
  }
  return list.length > most ? undefined : list;
}

/** The list by what it has in common with the other one. */
export function chunkParts(list: readonly string[], base: readonly string[]): ChunkParts {
  const places = new Map(base.map((digest, at) => [digest, at]));
  const parts: ChunkParts = [];
  for (let at = 0; at < list.length;) {
    const from = places.get(list[at]!);
    if (from === undefined) {
      parts.push(list[at]!);
      at += 1;
      continue;
    }
    let count = 1;
    while (at + count < list.length && list[at + count] === base[from + count]) count += 1;
    parts.push([from, count]);
    at += count;
  }
  return parts;
}
