/** What one render may use at most. */
export const limits = {
  /** Loop turns and calls, and work of helpers by size. */
  steps: 50_000_000,
  /** UTF-16 units of a text value. */
  text: 1024 * 1024,
  /** Items of a list. */
  list: 1_000_000,
  /** Macro calls inside macro calls. */
  macros: 200,
  /** UTF-16 units of everything that is written. */
  output: 64 * 1024 * 1024,
} as const;
