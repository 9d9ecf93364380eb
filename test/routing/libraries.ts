import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mergeSources } from '@haptic/core/config';
import type { ConfigSource, MergedConfig } from '@haptic/core/contract';
import { tenancySchema } from '../../plugins/routing/src/tenancy.ts';
import { parse } from 'yaml';

const folder = join(import.meta.dirname, '../../chart/libraries');

export const sha256 = (text: string | Uint8Array): string => createHash('sha256').update(text).digest('hex');

/** A library of the chart, its text changed by `edit`. */
export async function library(
  name: string,
  edit: (text: string) => string = (text) => text,
): Promise<ConfigSource> {
  const text = await readFile(join(folder, `${name}.yaml`), 'utf8');
  return { kind: 'library', name, spec: parse(edit(text)) as unknown };
}

/** The libraries with an operator's config on top. */
export function merged(libraries: readonly ConfigSource[], spec: object): MergedConfig {
  const config: ConfigSource = { kind: 'config', name: 'config', spec };
  const owned = [{ plugin: 'routing', key: 'tenancy', schema: tenancySchema }];
  return mergeSources({ sources: [...libraries, config] }, owned, sha256);
}

/** Replaces exactly one place of a text, or fails: an edit must not silently do nothing. */
export function replaceOnce(text: string, from: string, to: string): string {
  const parts = text.split(from);
  if (parts.length !== 2) throw new Error(`found ${parts.length - 1} times, expected once: ${from}`);
  return parts.join(to);
}

/** Every decision through the Lua router: the fast path never answers. */
export function withoutFastPath(text: string): string {
  const slow = [
    ['http-request allow if plain !special !tls', '# no fast path'],
    [' if !plain or { var(txn.r) -m beg ? } or tls !samesni', ''],
  ] as const;
  return slow.reduce((edited, [from, to]) => replaceOnce(edited, from, to), text);
}
