import { setImmediate as turn } from 'node:timers/promises';
import { Composer, LineCounter, Parser, type Document, type YAMLError } from 'yaml';
import { Refused, yamlMessage, type Position, type Problem } from '@haptic/core/contract';
import { excerpt } from './excerpt.ts';
import { locate } from './locate.ts';

/** One document of a file of YAML or JSON. */
export interface YamlDocument {
  readonly value: unknown;
  locate(path: readonly (string | number)[], of?: 'key' | 'value'): Position;
  excerpt(position: Position): string;
}

/** Longest time in one go: a huge file must not hold up the process. */
const SLICE_MS = 10;

interface Source {
  readonly file: string;
  readonly lines: readonly string[];
  readonly counter: LineCounter;
}

function problemAt(
  { file, lines }: Source,
  { line, column }: { line: number; column: number },
  message: string,
): Problem {
  return { where: `${file}:${line}:${column}`, message, excerpt: excerpt(lines, { line, column }) };
}

function syntaxProblem(source: Source, error: YAMLError): Problem {
  const { line, col } = source.counter.linePos(error.pos[0]);
  return problemAt(source, { line, column: col }, yamlMessage(error));
}

function startOf(source: Source, document: Document): Position {
  const { line, col } = source.counter.linePos(document.contents?.range?.[0] ?? document.range?.[0] ?? 0);
  return { file: source.file, line, column: col };
}

/** Plain data of a document. What can go wrong here is aliases: unknown ones, and a few that stand for millions. */
function dataOf(source: Source, document: Document, problems: Problem[]): unknown {
  try {
    return document.toJS();
  } catch (error) {
    problems.push(
      problemAt(source, startOf(source, document), error instanceof Error ? error.message : String(error)),
    );
    return undefined;
  }
}

function readDocument(source: Source, document: Document, problems: Problem[]): YamlDocument | undefined {
  // A tag that nobody knows is a warning to the parser and a mistake to us: its value would not be what was meant.
  const wrong = [...document.errors, ...document.warnings];
  if (wrong.length > 0) {
    problems.push(...wrong.map((error) => syntaxProblem(source, error)));
    return undefined;
  }
  const value = dataOf(source, document, problems);
  if (value === undefined || value === null) return undefined;
  return {
    value,
    locate: (path, of = 'value') => {
      const place = locate(document, path, of, source.lines, source.counter);
      return place === undefined ? startOf(source, document) : { file: source.file, ...place };
    },
    excerpt: (position) => excerpt(source.lines, position),
  };
}

/**
 * The documents of a file; empty ones are left out.
 * @throws Refused with all that is wrong with its syntax.
 */
export async function readDocuments(file: string, text: string): Promise<readonly YamlDocument[]> {
  const counter = new LineCounter();
  const source: Source = { file, lines: text.split('\n'), counter };
  const composer = new Composer({ prettyErrors: false, merge: true, logLevel: 'silent' });
  const documents: YamlDocument[] = [];
  const problems: Problem[] = [];
  let since = performance.now();
  for (const document of composer.compose(new Parser(counter.addNewLine).parse(text), false, text.length)) {
    const read = readDocument(source, document, problems);
    if (read !== undefined) documents.push(read);
    if (performance.now() - since > SLICE_MS) {
      await turn();
      since = performance.now();
    }
  }
  if (problems.length > 0) throw new Refused(problems);
  return documents;
}
