/** What expressions cost in steps, by the memory that they may take: some four bytes a step. */
export const costs = {
  /** A text besides its characters. */
  text: 8,
  list: 8,
  object: 16,
  /** An item of a list, or a member of an object. */
  item: 8,
} as const;

/** To walk a value. A text that was joined is copied when it is first walked, so that is as dear as making it. */
export function walkingCost(value: unknown): number {
  if (typeof value === 'string') return value.length >> 1;
  return Array.isArray(value) ? value.length : 0;
}

/** To make a value: its own size, not that of what it refers to. */
export function makingCost(value: unknown): number {
  if (typeof value === 'string') return costs.text + (value.length >> 1);
  return Array.isArray(value) ? costs.list + value.length * costs.item : 0;
}
