import { Refused, type Problem, type Provenance } from '../contract/index.ts';

/** More than anybody reads; one template line can be wrong for every object of a cluster. */
const LISTED = 50;

/** The objects that a declaration speaks of and the snippet that made it, for an error message. */
export function describe({ snippet, line, objects }: Provenance): string {
  const place = `${snippet}:${line}`;
  if (objects.length === 0) return place;
  const names = objects.map(
    ({ kind, namespace, name }) => `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
  );
  return `${names.join(', ')} (${place})`;
}

/** Collects everything that is wrong with a render before refusing it. */
export class Problems {
  readonly #list: Problem[] = [];
  #omitted = 0;

  get count(): number {
    return this.#list.length + this.#omitted;
  }

  add({ snippet, line, objects }: Provenance, message: string): void {
    if (this.#list.length === LISTED) {
      this.#omitted++;
      return;
    }
    const about = objects.length === 0 ? '' : ` [${describe({ snippet, source: '', line, objects })}]`;
    this.#list.push({ where: `${snippet}:${line}`, message: message + about });
  }

  twice(what: string, first: Provenance, second: Provenance): void {
    this.add(
      { ...second, objects: [] },
      `${what} is declared twice: by ${describe(first)} and by ${describe(second)}`,
    );
  }

  /** @throws Refused when anything was added. */
  refuse(): void {
    if (this.#list.length === 0) return;
    const rest = this.#omitted === 0 ? [] : [{ where: '', message: `and ${this.#omitted} more problem(s)` }];
    throw new Refused([...this.#list, ...rest]);
  }
}
