import {
  NO_CONTENTS,
  type ContentReader,
  type ContentRequest,
  type Contents,
  type JsonObject,
} from '../../contract/index.ts';

interface Asked {
  readonly options: JsonObject;
  readonly optionsText: string;
  readonly site: number;
}

/** What one render reads of contents, and what it asked for in doing so. */
export class ContentRequests implements ContentReader {
  /** Of the expression that runs. */
  site = 0;
  readonly #contents: Contents;
  readonly #where: (site: number) => string;
  readonly #asked = new Map<string, Asked>();

  constructor(contents: Contents = NO_CONTENTS, where: (site: number) => string) {
    this.#contents = contents;
    this.#where = where;
  }

  read(key: string, options: JsonObject): string | undefined {
    const optionsText = JSON.stringify(options);
    const known = this.#asked.get(key);
    if (known === undefined) this.#asked.set(key, { options, optionsText, site: this.site });
    else if (known.optionsText !== optionsText) {
      throw new Error(
        `its options are ${optionsText}, but ${known.optionsText} at ${this.#where(known.site)}: one content has the same options everywhere`,
      );
    }
    return this.#contents.get(key);
  }

  /** In the order in which they were asked for. */
  list(): readonly ContentRequest[] {
    return Array.from(this.#asked, ([key, { options, site }]) => ({
      key,
      options,
      place: this.#where(site),
    }));
  }
}
