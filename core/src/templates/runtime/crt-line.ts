import type { CrtLineDeclaration } from '../output.ts';
import { shown } from './escape.ts';
import { checkFileName } from './file-name.ts';
import { foreignFile } from './own-file.ts';
import { SiteError } from './site-error.ts';

const crtWord = /^[\w.*/-]+$/;
const crtOptions = /^[\w.,:+=/ -]*$/;

/** The line of `{% crt list, cert, options, sni %}`. @throws SiteError for what cannot stand in one */
export function crtLine(parts: readonly unknown[], site: number): Omit<CrtLineDeclaration, 'provenance'> {
  const [list, certificate, options = '', sni = []] = parts;
  if (typeof options !== 'string' || !crtOptions.test(options)) {
    throw new SiteError(site, 'the options of a crt-list line are words without brackets, such as "alpn h2"');
  }
  const file = foreignFile(options.split(' ').filter((word) => word !== ''));
  if (file !== undefined) {
    throw new SiteError(
      site,
      `the options of a crt-list line name the file ${shown(file)}; only path(kind, name) names one`,
    );
  }
  const names = namesOf(sni, site);
  return {
    list: checkFileName(list, site),
    certificate: checkFileName(certificate, site),
    options,
    sni: names,
  };
}

function namesOf(sni: unknown, site: number): readonly string[] {
  const names: unknown = typeof sni === 'string' ? [sni] : sni;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && crtWord.test(name))) {
    return names as string[];
  }
  throw new SiteError(site, 'the names of a crt-list line are host names of letters, digits and . * / - _');
}
