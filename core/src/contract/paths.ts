/** Kinds of files that templates can name: `path(kind, name)`. */
export type NamedFileKind = 'map' | 'file' | 'certificate' | 'crt-list' | 'ca';

const folders: Readonly<Record<NamedFileKind, readonly [folder: string, suffix: string]>> = {
  map: ['maps/', '.map'],
  file: ['files/', ''],
  certificate: ['certs/', '.pem'],
  'crt-list': ['crt-lists/', '.txt'],
  ca: ['ca/', '.pem'],
};

/**
 * Where a named file stands, relative to the base directory: HAProxy is always started and checked with that folder as its
 * working directory (`-C`), so the same bytes are right in a staged tree and in a pod.
 */
export function filePath(kind: NamedFileKind, name: string): string {
  const [folder, suffix] = folders[kind];
  return `${folder}${name}${suffix}`;
}

/** The main configuration's path in the file set. */
export const MAIN_CONFIG = 'haproxy.cfg';
