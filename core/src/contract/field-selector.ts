import { Refused } from './errors.ts';
import { parseFieldPath, readField } from './field-path.ts';

/** Whether an object is selected. */
export type FieldSelector = (object: unknown) => boolean;

/** One of the claims of a field selector: the field at the end of `path` is this text, or is not. */
export interface FieldRequirement {
  readonly path: readonly string[];
  readonly value: string;
  readonly equal: boolean;
}

/** What the Kubernetes API compares: the field as text, an absent one as empty text. */
function fieldText(object: unknown, names: readonly string[]): string {
  const value = readField(object, names);
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What a selector of the Kubernetes API claims: `metadata.name=web,spec.type!=ExternalName`. @throws Refused for other text. */
export function parseFieldRequirements(text: string): readonly FieldRequirement[] {
  return (text.trim() === '' ? [] : text.split(/(?<!\\),/)).map((part) => {
    const match = /^\s*([^=!]+?)(==|=|!=)(.*)$/s.exec(part);
    if (match === null)
      throw new Refused(`field selector "${text}": expected path=value or path!=value, got "${part}"`);
    const path = parseFieldPath(match[1]!);
    return { path, value: match[3]!.replaceAll(/\\(.)/gs, '$1'), equal: match[2] !== '!=' };
  });
}

/** Reads field selectors of the Kubernetes API: `metadata.name=web,spec.type!=ExternalName`. @throws Refused for other text. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = parseFieldRequirements(text);
  return (object) =>
    requirements.every(({ path, value, equal }) => (fieldText(object, path) === value) === equal);
}
