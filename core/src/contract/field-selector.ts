import { Refused } from './errors.ts';
import { parseFieldPath, readField } from './field-path.ts';

export type FieldSelector = (object: unknown) => boolean;

/** What the Kubernetes API compares: the field as text, an absent one as empty text. */
function fieldText(object: unknown, names: readonly string[]): string {
  const value = readField(object, names);
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Reads field selectors of the Kubernetes API: `metadata.name=web,spec.type!=ExternalName`. @throws Refused for other text. */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements = (text.trim() === '' ? [] : text.split(/(?<!\\),/)).map((part) => {
    const match = /^\s*([^=!]+?)(==|=|!=)(.*)$/s.exec(part);
    if (match === null)
      throw new Refused(`field selector "${text}": expected path=value or path!=value, got "${part}"`);
    const names = parseFieldPath(match[1]!);
    const wanted = match[3]!.replaceAll(/\\(.)/gs, '$1');
    const equal = match[2] !== '!=';
    return (object: unknown) => (fieldText(object, names) === wanted) === equal;
  });
  return (object) => requirements.every((holds) => holds(object));
}
