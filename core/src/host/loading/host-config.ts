import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { Loader } from 'cosmiconfig';
import { z } from 'zod';
import { schemaProblems } from '../../config/schema-problems.ts';
import { Refused } from '../../contract/errors.ts';
import { formatPosition, readYaml, type YamlDocument } from '../../contract/yaml-text.ts';

const Entry = z.strictObject({
  /** A package, or a path relative to the file. */
  use: z.string().min(1),
  options: z.record(z.string(), z.unknown()).optional(),
  enabled: z.boolean().default(true),
});
const HostConfigSchema = z.strictObject({ plugins: z.array(Entry).default([]) });

/** One entry of `plugins`, and where it stands. */
export interface ConfigEntry extends z.output<typeof Entry> {
  /** Place of a path of its options. */
  readonly locate: (path: readonly (string | number)[]) => string;
}

/** What an operator changes in the preset. */
export interface HostConfig {
  /** Absolute. */
  readonly file: string;
  readonly plugins: readonly ConfigEntry[];
}

const HOST_CONFIG_FILES = ['haptic.config.yaml', 'haptic.config.yml', 'haptic.config.json'] as const;

/**
 * The host configuration of exactly this file, or of a folder; never of its parents. Undefined when a folder has none.
 *
 * @throws Refused with everything that is wrong with it.
 */
export async function readHostConfig(
  from: { readonly file: string } | { readonly folder: string },
): Promise<HostConfig | undefined> {
  const file = 'file' in from ? from.file : await findIn(from.folder);
  if (file === undefined) return undefined;
  const found = await load(file);
  const document = found?.config as YamlDocument | undefined;
  return { file: found?.filepath ?? file, plugins: document === undefined ? [] : parse(document) };
}

/** Not cosmiconfig's `search`: it passes over a file that it may not read, and over a second one. */
async function findIn(folder: string): Promise<string | undefined> {
  const files: string[] = [];
  for (const name of HOST_CONFIG_FILES) {
    const file = join(folder, name);
    if (await exists(file)) files.push(file);
  }
  if (files.length < 2) return files[0];
  throw new Refused(`there are several host configurations: ${files.join(', ')}; keep one`);
}

async function exists(file: string): Promise<boolean> {
  try {
    await access(file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw new Refused([{ where: file, message: `cannot be read: ${(error as Error).message}` }]);
  }
}

/** Only data is read: cosmiconfig would run a configuration in JavaScript, whose loaders stay unless they are replaced. */
async function load(file: string) {
  // It asks for the user's home when it is imported, and agents run as users that have none.
  const { cosmiconfig } = await import('cosmiconfig');
  const refuse: Loader = (path) => {
    throw new Refused([{ where: path, message: 'must be a .yaml, .yml or .json file' }]);
  };
  const code = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'].map((extension) => [extension, refuse]);
  const explorer = cosmiconfig('haptic', {
    searchStrategy: 'none',
    cache: false,
    loaders: {
      ...(Object.fromEntries(code) as Record<string, Loader>),
      noExt: refuse,
      default: refuse,
      '.yaml': onlyDocument,
      '.yml': onlyDocument,
      '.json': onlyDocument,
    },
  });
  try {
    return await explorer.load(file);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused([{ where: file, message: `cannot be read: ${(error as Error).message}` }]);
  }
}

const onlyDocument: Loader = (file, text): YamlDocument | undefined => {
  const documents = readYaml(file, text);
  if (documents.length < 2) return documents[0];
  throw new Refused([
    { where: formatPosition(documents[1]!.locate([])), message: 'a host configuration is one document' },
  ]);
};

function parse(document: YamlDocument): ConfigEntry[] {
  const value = document.value ?? {};
  const result = HostConfigSchema.safeParse(value);
  if (!result.success) {
    const problems = schemaProblems(HostConfigSchema, result.error, value)
      .map(({ path, message }) => ({ at: document.locate(path), message }))
      .sort((a, b) => a.at.line - b.at.line);
    throw new Refused(problems.map(({ at, message }) => ({ where: formatPosition(at), message })));
  }
  return result.data.plugins.map((entry, index) => ({
    ...entry,
    locate: (path) => formatPosition(document.locate(['plugins', index, 'options', ...path])),
  }));
}
