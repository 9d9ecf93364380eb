import { shown } from './escape.ts';
import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

const sectionName = /^[\w.:/ -]+$/;

/** What `{% section name, objects, options %}` declares, its text and its objects apart. */
export interface SectionDeclaration {
  readonly name: string;
  readonly secret: boolean;
}

/** @throws SiteError for what is no name of a section */
export function checkSectionName(name: unknown, site: number): string {
  if (typeof name === 'string' && sectionName.test(name)) return name;
  const found = typeof name === 'string' ? shown(name) : kindOf(name);
  throw new SiteError(site, `the name of a section is ${found}, expected words such as "frontend http"`);
}

/** Whether the options of a section mark it secret. @throws SiteError for what are no options */
export function isSecretSection(options: unknown, site: number): boolean {
  if (options === undefined) return false;
  if (typeof options === 'object' && options !== null) {
    const { secret, ...others } = options as Record<string, unknown>;
    if (typeof secret === 'boolean' && Object.keys(others).length === 0) return secret;
  }
  throw new SiteError(site, 'the options of a section are {secret: true} or {secret: false}');
}
