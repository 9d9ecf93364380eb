/** What one render may use at most. */
export const limits = {
  /** Loop turns and calls, and the size of what is walked or made. Bounds memory as well: a step makes some four bytes. */
  steps: 50_000_000,
  /** UTF-16 units of a text value. */
  text: 1024 * 1024,
  /** Items of a list. */
  list: 1_000_000,
  /** Macros and includes inside each other. */
  depth: 200,
  /** Levels of lists and objects in what is written as JSON or YAML. */
  nesting: 200,
  /** UTF-16 units of everything that is written. */
  output: 64 * 1024 * 1024,
} as const;
