import { parseFieldPath } from '../contract/field-path.ts';

/** What content needs: a served watch, or a field that the served schema of a watch has. */
export interface Requirement {
  readonly watch: string;
  /** Empty: the watch alone. */
  readonly field: readonly string[];
}

/** Reads `watch` or `watch.field.path`. @throws Refused for text that is no path. */
export function parseRequirement(text: string): Requirement {
  const [watch, ...field] = parseFieldPath(text);
  return { watch: watch!, field };
}
