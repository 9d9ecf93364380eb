import { limits } from './limits.ts';

/**
 * The least number of characters that a plain value takes as JSON. A value that appears twice counts twice, since it is written
 * twice: forty nested pairs of the same list would fill every memory. So this is asked before anything is written.
 * @throws Error for what is no JSON, nested too deeply or too large.
 */
export function plainSize(value: unknown): number {
  let size = 0;
  const add = (more: number): void => {
    size += more;
    if (size > limits.text) throw new Error(`longer than ${limits.text} characters`);
  };
  const visit = (item: unknown, depth: number): void => {
    if (depth > limits.nesting) throw new Error(`nested more than ${limits.nesting} deep`);
    add(1);
    if (typeof item === 'string') add(item.length);
    else if (Array.isArray(item)) for (const inner of item) visit(inner, depth + 1);
    else if (typeof item === 'object' && item !== null) {
      for (const [key, inner] of Object.entries(item)) {
        add(key.length);
        if (inner !== undefined) visit(inner, depth + 1);
      }
    } else if (typeof item === 'number' && !Number.isFinite(item)) throw new Error(`${item} is no JSON`);
    else if (item === undefined || typeof item === 'function') throw new Error(`${typeof item} is no JSON`);
  };
  visit(value, 0);
  return size;
}
