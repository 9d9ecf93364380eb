import { Refused } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import { MAIN_CONFIG, type NamedFileKind } from '../contract/paths.ts';

/** What an assertion looks at. */
export type Target =
  | { readonly kind: 'main-config' }
  | { readonly kind: 'named-file'; readonly file: NamedFileKind; readonly name: string }
  | { readonly kind: 'events' }
  | { readonly kind: 'plan' }
  | { readonly kind: 'rendering_error' };

const files: Readonly<Record<string, NamedFileKind>> = {
  map: 'map',
  file: 'file',
  cert: 'certificate',
  'crt-list': 'crt-list',
};
/** Known words that this version cannot judge yet: refused as such, so that nobody takes them for misspelt. */
const notYet = ['k8s', 'status'];
const words = [MAIN_CONFIG, 'events', 'plan', 'rendering_error'];

function expected(text: string): string {
  const forms = [...words, ...Object.keys(files).map((kind) => `${kind}:<name>`)];
  return `unknown target "${text}", expected one of ${forms.join(', ')}`;
}

function parseNamed(text: string, kind: string, name: string): Target {
  if (notYet.includes(kind)) throw new Refused(`target "${kind}:<name>" is not available in this version`);
  const file = Object.hasOwn(files, kind) ? files[kind] : undefined;
  if (file === undefined) throw new Refused(`${expected(text)}${didYouMean(kind, Object.keys(files))}`);
  if (name === '') throw new Refused(`target "${text}" lacks a name: expected ${kind}:<name>`);
  return { kind: 'named-file', file, name };
}

/** @throws Refused for text that names no target. */
export function parseTarget(text: string): Target {
  switch (text) {
    case MAIN_CONFIG:
      return { kind: 'main-config' };
    case 'events':
    case 'plan':
    case 'rendering_error':
      return { kind: text };
    default: {
      const colon = text.indexOf(':');
      if (colon === -1) throw new Refused(`${expected(text)}${didYouMean(text, words)}`);
      return parseNamed(text, text.slice(0, colon), text.slice(colon + 1));
    }
  }
}
