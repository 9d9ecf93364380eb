import type { CrtListLine, RenderPlan } from '../../contract/index.ts';

type CrtLists = RenderPlan['crtLists'];

/** Whose lines stand behind: a certificate's; null: those of several. */
type Owner = string | null;

/** The lines that stand behind one, of the same list. */
class Behind {
  readonly #byFilter = new Map<string, Owner>();
  /** Of any line. */
  #any: Owner | undefined;
  /** Of lines whose names are those in the certificate, which are not known here. */
  #unclear: Owner | undefined;

  add(line: CrtListLine, isFirst: boolean): void {
    const { certificate } = line;
    this.#any = joined(this.#any, certificate);
    if (line.sni.length === 0) this.#unclear = joined(this.#unclear, certificate);
    for (const filter of filtersOf(line, isFirst))
      this.#byFilter.set(filter, joined(this.#byFilter.get(filter), certificate));
  }

  /** Owners of those that may answer for the same names. */
  equalTo(line: CrtListLine, isFirst: boolean): readonly Owner[] {
    const found = line.sni.length === 0 ? [this.#any] : [this.#unclear];
    for (const filter of filtersOf(line, isFirst)) found.push(this.#byFilter.get(filter));
    return found.filter((owner) => owner !== undefined);
  }
}

function joined(owner: Owner | undefined, certificate: string): Owner {
  return owner === undefined || owner === certificate ? certificate : null;
}

/** Negative ones speak of their own line only. The first line answers for all names that no other one has. */
function filtersOf({ sni }: CrtListLine, isFirst: boolean): readonly string[] {
  const names = sni.filter((filter) => !filter.startsWith('!')).map((filter) => filter.toLowerCase());
  return isFirst ? [...names, '*'] : names;
}

/** A line that may answer for a name that one behind it answers for, too. */
export interface LineBeforeEqual {
  readonly line: CrtListLine;
  /** Whether one of those is another certificate's. */
  readonly ofAnother: boolean;
}

/**
 * Of equal filters the line counts that HAProxy took up first. One whose certificate or CA file is replaced is taken up anew, after
 * all others: then these answer instead of it, which no start would give.
 */
export function linesBeforeEquals(lists: CrtLists): readonly LineBeforeEqual[] {
  const found: LineBeforeEqual[] = [];
  for (const { lines } of Object.values(lists)) {
    const behind = new Behind();
    for (let at = lines.length - 1; at >= 0; at--) {
      const line = lines[at]!;
      const owners = behind.equalTo(line, at === 0);
      if (owners.length > 0)
        found.push({ line, ofAnother: owners.some((owner) => owner !== line.certificate) });
      behind.add(line, at === 0);
    }
  }
  return found;
}
