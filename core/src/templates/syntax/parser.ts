import { didYouMean } from '../../contract/index.ts';
import { parseExpression } from '../expression/parse.ts';
import { SyntaxProblem, type Problems } from '../problems.ts';
import type { TemplateSource } from '../source.ts';
import { Lexer, type Token } from './lexer.ts';
import { settleLines } from './lines.ts';
import type { Body, Node } from './nodes.ts';
import { TagReader } from './tag-reader.ts';
import { closingTags, tagParsers, type Closer } from './tags.ts';

/** Deeper blocks are refused before they can exhaust a stack. */
const DEEPEST = 100;

/** What other template languages have for tags. */
const otherTags: ReadonlyMap<string, string> = new Map([
  ['raw', ': write {% verbatim %}'],
  ['endraw', ': write {% endverbatim %}'],
  ['elseif', ': write {% elif %}'],
  ['end', ': each block has its own, such as {% endif %}'],
  ['assign', ': write {% set %}'],
  ['call', ': write {{ name(…) }}'],
  ['extends', ': snippets are included or imported'],
  ['block', ': snippets are included or imported'],
  ['from', ': write {% import "snippet" %}'],
]);

type TagToken = Extract<Token, { kind: 'tag' | 'output' }>;

/** Thrown where a body ends without its closing tag: there is nothing left to go on with. */
class EndOfTemplate extends Error {}

/** A template's nodes. Mistakes are collected; parsing goes on behind each of them. */
export function parseTemplate(source: TemplateSource, problems: Problems): Body {
  return new Parser(source, problems).parse();
}

class Parser {
  readonly #source: TemplateSource;
  readonly #problems: Problems;
  readonly #tokens: readonly Token[];
  #next = 0;
  /** Closing tags that blocks around wait for, outermost first. */
  readonly #open: (readonly string[])[] = [];

  constructor(source: TemplateSource, problems: Problems) {
    this.#source = source;
    this.#problems = problems;
    this.#tokens = settleLines(source.text, new Lexer(source, problems).tokens());
  }

  parse(): Body {
    try {
      return this.#nodes().nodes;
    } catch (error) {
      if (error instanceof EndOfTemplate) return [];
      throw error;
    }
  }

  /** Nodes up to a closing tag that a block around waits for. */
  #nodes(): { readonly nodes: Body; readonly closer: Closer | undefined } {
    const nodes: Node[] = [];
    while (this.#next < this.#tokens.length) {
      const token = this.#tokens[this.#next++]!;
      if (token.kind === 'comment') continue;
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: this.#source.text.slice(token.start, token.end), ...span(token) });
        continue;
      }
      try {
        const found = token.kind === 'output' ? this.#output(token) : this.#tag(token);
        if ('reader' in found) return { nodes, closer: found };
        nodes.push(found);
      } catch (error) {
        if (!(error instanceof SyntaxProblem)) throw error;
        this.#problems.add(this.#source, error.offset, error.message);
      }
    }
    return { nodes, closer: undefined };
  }

  #output(token: TagToken): Node {
    const expression = parseExpression(this.#source.text, token.inner.start, token.inner.end);
    const { alone = false, lineEnd = false } = token;
    return { kind: 'output', expression, alone, lineEnd, ...span(token) };
  }

  #tag(token: TagToken): Node | Closer {
    const reader = new TagReader(this.#source.text, token.inner);
    const { name, start } = reader.name('the name of a tag');
    if (closingTags.has(name)) return this.#closer(name, reader, token);
    const parser = tagParsers.get(name);
    if (parser === undefined) {
      const known = [...tagParsers.keys(), ...closingTags, 'verbatim'];
      const hint = otherTags.get(name) ?? didYouMean(name, known);
      throw new SyntaxProblem(start, `there is no tag "${name}"${hint}`);
    }
    const context = {
      ...span(token),
      alone: token.alone === true,
      body: (...closers: readonly string[]) => this.#body(name, token, closers),
    };
    try {
      return parser(reader, context);
    } catch (error) {
      if (error instanceof SyntaxProblem) this.#skipBlock(name, token);
      throw error;
    }
  }

  #closer(name: string, reader: TagReader, token: TagToken): Closer {
    if (!this.#open.some((closers) => closers.includes(name))) {
      throw new SyntaxProblem(token.start, `{% ${name} %} closes nothing`);
    }
    if (name !== 'elif' && !reader.isAtEnd) {
      this.#problems.add(this.#source, reader.at, `{% ${name} %} takes nothing`);
    }
    return { name, reader, start: token.start };
  }

  #body(tag: string, token: TagToken, closers: readonly string[]): { nodes: Body; closer: Closer } {
    if (this.#open.length >= DEEPEST) {
      this.#problems.add(
        this.#source,
        token.start,
        `blocks are nested more than ${DEEPEST} deep: not enough stack`,
      );
      throw new EndOfTemplate();
    }
    this.#open.push(closers);
    const { nodes, closer } = this.#nodes();
    this.#open.pop();
    if (closer !== undefined && closers.includes(closer.name)) return { nodes, closer };
    const expected = `{% ${closers.at(-1)} %}`;
    const { line } = this.#source.place(token.start);
    const message =
      closer === undefined
        ? `expected ${expected} for {% ${tag} %}, which is never closed`
        : `expected ${expected} for {% ${tag} %} of line ${line}, found {% ${closer.name} %}`;
    this.#problems.add(this.#source, closer?.start ?? token.start, message);
    throw new EndOfTemplate();
  }

  /**
   * A block whose tag (or {% elif %}) is wrong still has a body: it is read for its mistakes, so that its closing tag closes it
   * and not something else.
   */
  #skipBlock(name: string, token: TagToken): void {
    const closer = `end${name}`;
    if (!closingTags.has(closer)) return;
    if (name === 'set' && this.#source.text.slice(token.start, token.end).includes('=')) return;
    for (;;) {
      const middle = name === 'if' ? ['elif', 'else'] : name === 'for' ? ['else'] : [];
      if (this.#body(name, token, [...middle, closer]).closer.name === closer) return;
    }
  }
}

function span({ start, end }: { readonly start: number; readonly end: number }) {
  return { start, end };
}
