import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

/** Recognisable wherever it turns up, and in no other text. */
export function random(): string {
  return `S${randomBytes(12).toString('hex')}`;
}

/** How a secret may be written, the parts of one of several lines for themselves. */
function forms(value: string): readonly string[] {
  const sha256 = createHash('sha256').update(value).digest();
  return [
    ...value.split('\n').filter((line) => line.length > 16 && !line.startsWith('-----')),
    ...(value.includes('\n') ? [] : [value]),
    // Without its end, which depends on what follows.
    Buffer.from(value).toString('base64').slice(0, -4),
    Buffer.from(value).toString('base64url').slice(0, -4),
    Buffer.from(value).toString('hex'),
    encodeURIComponent(value),
    sha256.toString('hex'),
    sha256.toString('base64'),
  ];
}

export async function filesOf(dir: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dir, join(entry.parentPath, entry.name)));
  const texts = await Promise.all(
    files.map(async (file) => [file, await readFile(join(dir, file), 'latin1')] as const),
  );
  return new Map(texts);
}

/** `<where>: <secret>` for each secret that is to be read in a text. */
export function leaks(
  texts: ReadonlyMap<string, string>,
  secrets: Readonly<Record<string, string>>,
): readonly string[] {
  return [...texts].flatMap(([where, text]) =>
    Object.entries(secrets).flatMap(([name, value]) =>
      forms(value).flatMap((form) => {
        const at = text.indexOf(form);
        return at === -1
          ? []
          : `${where}: ${name} in ${JSON.stringify(text.slice(Math.max(0, at - 200), at + 80))}`;
      }),
    ),
  );
}
