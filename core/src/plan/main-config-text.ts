import type { BuiltSection } from './backend-section.ts';
import type { Hash, TextFacts } from './hash.ts';
import { differing } from './window.ts';

interface Known extends TextFacts {
  readonly sections: readonly BuiltSection[];
  readonly text: string;
}

function lengthOf(sections: readonly BuiltSection[]): number {
  return sections.reduce((sum, { text }) => sum + text.length, 0);
}

function textOf(sections: readonly BuiltSection[]): string {
  return sections.map(({ text }) => text).join('');
}

/** The text of `haproxy.cfg`, of which most changes leave most as it is. */
export class MainConfigText {
  readonly #hash: Hash;
  #known: Known = { sections: [], text: '', digest: '', length: 0 };

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  of(sections: readonly BuiltSection[]): Known {
    const known = this.#known;
    const { start, next, before } = differing(
      sections,
      known.sections,
      (a, b) => a === b || a.text === b.text,
    );
    if (next.length + before.length === 0 && known.digest !== '') return known;
    const from = lengthOf(known.sections.slice(0, start));
    const to = from + lengthOf(before);
    const text = known.text.slice(0, from) + textOf(next) + known.text.slice(to);
    const length = sections.reduce((sum, { section }) => sum + section.length, 0);
    this.#known = { sections, text, digest: this.#hash(text), length };
    return this.#known;
  }
}
