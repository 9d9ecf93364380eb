/** A relative, canonical path: no empty, hidden or parent segments. Suffixes are added by `filePath`. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/;

/** File systems take 255 bytes a segment. */
const LONGEST_SEGMENT = 240;

/** Why no file can be named so; undefined where one can. */
export function fileNameFault(name: string): string | undefined {
  if (!NAME.test(name)) return `"${name.slice(0, 200)}" is no name of a file: it must match ${NAME.source}`;
  const long = name.split('/').find((segment) => segment.length > LONGEST_SEGMENT);
  return long === undefined
    ? undefined
    : `"${long.slice(0, 40)}…" is longer than the ${LONGEST_SEGMENT} characters of a file's name`;
}
