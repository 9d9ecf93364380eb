import { Refused } from '../contract/errors.ts';
import { didYouMean } from '../contract/nearest.ts';
import { MAIN_CONFIG, type NamedFileKind } from '../contract/paths.ts';

/** What an assertion looks at. */
export type Target =
  | { readonly kind: 'main-config' }
  | { readonly kind: 'named-file'; readonly file: NamedFileKind; readonly name: string }
  /** The objects that a template of `k8sResources` makes. */
  | { readonly kind: 'k8s'; readonly name: string }
  /** Statuses of the objects of that name. */
  | { readonly kind: 'status'; readonly namespace: string; readonly name: string }
  | { readonly kind: 'events' }
  | { readonly kind: 'plan' }
  | { readonly kind: 'rendering_error' };

const files: Readonly<Record<string, NamedFileKind>> = {
  map: 'map',
  file: 'file',
  cert: 'certificate',
  'crt-list': 'crt-list',
};
const words = [MAIN_CONFIG, 'events', 'plan', 'rendering_error'];
const named = [...Object.keys(files), 'k8s', 'status'];

function form(kind: string): string {
  return kind === 'status' ? 'status:<namespace>/<name>' : `${kind}:<name>`;
}

function expected(text: string): string {
  return `unknown target "${text}", expected one of ${[...words, ...named.map(form)].join(', ')}`;
}

function parseStatus(text: string, name: string): Target {
  const slash = name.indexOf('/');
  if (slash === -1 || slash === name.length - 1)
    throw new Refused(`target "${text}": expected ${form('status')}, without a namespace status:/<name>`);
  return { kind: 'status', namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}

function parseNamed(text: string, kind: string, name: string): Target {
  if (!named.includes(kind)) throw new Refused(`${expected(text)}${didYouMean(kind, named)}`);
  if (name === '') throw new Refused(`target "${text}" lacks a name: expected ${form(kind)}`);
  if (kind === 'status') return parseStatus(text, name);
  return kind === 'k8s' ? { kind, name } : { kind: 'named-file', file: files[kind]!, name };
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
      if (colon === -1) throw new Refused(`${expected(text)}${didYouMean(text, [...words, ...named])}`);
      return parseNamed(text, text.slice(0, colon), text.slice(colon + 1));
    }
  }
}

/** A target whose content is data. @throws Refused for text that names none. */
export function parseDataTarget(text: string): Target {
  const target = parseTarget(text);
  if (target.kind === 'k8s' || target.kind === 'status' || target.kind === 'plan' || target.kind === 'events')
    return target;
  throw new Refused(
    `target "${text}" is a text, and a path needs data: ${form('k8s')}, ${form('status')}, events or plan`,
  );
}
