import { describeRef, Refused, type ObjectRef, type Problem, type Provenance } from '../contract/index.ts';

/** More than anybody reads; one template line can be wrong for every object of a cluster. */
const LISTED = 50;

/** The objects that a declaration speaks of and the snippet that made it, for an error message. */
export function describe({ snippet, line, objects }: Provenance): string {
  const place = `${snippet}:${line}`;
  if (objects.length === 0) return place;
  return `${objects.map(describeRef).join(', ')} (${place})`;
}

/** Collects everything that is wrong with a render before refusing it. */
export class Problems {
  readonly #list: Problem[] = [];
  #omitted = 0;

  get count(): number {
    return this.#list.length + this.#omitted;
  }

  add(provenance: Provenance, message: string): void {
    const { objects } = provenance;
    const about = objects.length === 0 ? '' : ` [${describe(provenance)}]`;
    this.#put(provenance, message + about, objects);
  }

  #put({ snippet, line }: Provenance, message: string, objects: readonly ObjectRef[]): void {
    if (this.#list.length === LISTED) {
      this.#omitted++;
      return;
    }
    this.#list.push({
      where: `${snippet}:${line}`,
      message,
      ...(objects.length > 0 && { objects }),
    });
  }

  twice(what: string, first: Provenance, second: Provenance): void {
    const message = `${what} is declared twice: by ${describe(first)} and by ${describe(second)}`;
    this.#put(second, message, [...first.objects, ...second.objects]);
  }

  /** @throws Refused when anything was added. */
  refuse(): void {
    if (this.#list.length === 0) return;
    const rest = this.#omitted === 0 ? [] : [{ where: '', message: `and ${this.#omitted} more problem(s)` }];
    throw new Refused([...this.#list, ...rest]);
  }
}
