/** Where a text stands, to its mode; opaque to everybody else. */
export type TextState = object;

/** Text that templates made themselves: escaped already. `lines` begins and ends at a line's beginning. */
export type TextShape = 'lines' | 'inline';

/** The last filters of an output, which say how a value is written. */
export type EscapeFilter = 'arg' | 'word' | 'fmt' | 'expr' | 'q' | 'raw';

/** A value to print. */
export interface PrintedValue {
  /** JavaScript of the value. */
  readonly code: string;
  /** It comes from `path(…)` and its kind. */
  readonly isPath: boolean;
  /** It is YAML already: made by `json` or `yaml`. */
  readonly isYaml: boolean;
  readonly filters: ReadonlySet<EscapeFilter>;
  /** Nothing else stands on its line. */
  readonly alone: boolean;
  /** A line end is written behind it. */
  readonly lineEnd: boolean;
  readonly site: number;
}

export interface TextReport {
  /** `at` is an offset in the text that was read, or 0 for a value. */
  problem(message: string, at?: number): void;
}

export interface Printed {
  /** Statements that append to `o`; `x` is free to use, `w` is the mode's own. */
  readonly code: string;
  readonly state: TextState;
}

/** How values are written into one kind of text. */
export interface TextMode {
  readonly name: 'haproxy' | 'plain' | 'pem' | 'yaml';
  start(shape: TextShape): TextState;
  /** Reads the template's own text, and writes it. */
  read(state: TextState, text: string, report: TextReport): Printed;
  print(state: TextState, value: PrintedValue, report: TextReport): Printed;
  /** Made text is written within a line. The code is run after it was written, when it is in `x`. */
  insert(state: TextState, report: TextReport): Printed;
  /** Undefined: the two ways differ in how a value would have to be written. */
  merge(a: TextState, b: TextState): TextState | undefined;
  isSame(a: TextState, b: TextState): boolean;
  /** The text ends here. */
  end(state: TextState, shape: TextShape, report: TextReport): string;
}

/** The code that writes text. It is a JSON string, whatever it holds. */
export function append(text: string): string {
  return text === '' ? '' : `o += ${JSON.stringify(text)};`;
}
