import { didYouMean, filePath, type NamedFileKind } from '../../contract/index.ts';
import { shown } from './escape.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

const fileName = /^[\w][\w.-]*$/;
const fileKinds: readonly string[] = ['map', 'file', 'certificate', 'crt-list', 'ca'];

export function checkFileName(name: unknown, site: number): string {
  if (typeof name === 'string' && fileName.test(name) && name.length <= 200) return name;
  const found = typeof name === 'string' ? shown(name) : kindOf(name);
  throw new SiteError(site, `the name of a file is ${found}, expected letters, digits and . _ -`);
}

/** `path(kind, name)`: where a named file stands. */
export function pathOf(kind: unknown, name: unknown, site: number): string {
  if (typeof kind !== 'string' || !fileKinds.includes(kind)) {
    const hint = typeof kind === 'string' ? didYouMean(kind, fileKinds) : '';
    throw new SiteError(site, `the kind of a file is one of ${fileKinds.join(', ')}${hint}`);
  }
  return filePath(kind as NamedFileKind, checkFileName(name, site));
}
