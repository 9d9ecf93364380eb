import { createHash } from 'node:crypto';

/** Names content by what it is. Long enough that nobody finds two texts with one name. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 40);
}
