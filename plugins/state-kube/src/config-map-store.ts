import { Bug, Cancelled, Refused, Retry, type KubeObject, type StateStore } from '@haptic/core/contract';
import {
  createObject,
  FIELD_MANAGER,
  getObject,
  isApiError,
  mergeObject,
  refusalOf,
  type KubeApi,
  type Resource,
} from '@haptic/kube';
import { checkSum, documentFields, documentOf } from './document-data.ts';

const configMaps: Resource = {
  apiVersion: 'v1',
  resource: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

/** Names of documents are ours, never a user's; keys of a ConfigMap take them. */
const NAME = /^[a-z][a-z0-9-]{0,63}$/;

/** Whose term it is. Each one writes it first, so that no request of a former one finds the version that it was sent for. */
const TERM = 'haproxy-haptic.org/term';

/** Less than what the end of the process waits for. Milliseconds. */
const TIMEOUT_MS = 5_000;
/** Writers that come in between; two never lead at once for long. */
const MOST_CONFLICTS = 5;

/** Of the ConfigMap. */
interface Change extends Partial<ReturnType<typeof documentFields>> {
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ConfigMapStoreParts {
  readonly api: KubeApi;
  readonly namespace: string;
  readonly name: string;
}

/**
 * Documents as keys of one ConfigMap. One write at a time, each on top of what is known: what somebody else wrote meanwhile is looked
 * at first, so a request that was late on its way changes nothing.
 */
export class ConfigMapStore implements StateStore {
  readonly #parts: ConfigMapStoreParts;
  /** By what was asked for, what the server does not let us do. */
  readonly #refusals = new Map<'read' | 'written', string>();
  #known: KubeObject | undefined;
  #term: { readonly mark: string; readonly signal: AbortSignal } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: ConfigMapStoreParts) {
    this.#parts = parts;
  }

  /** One line about what somebody has to mend. Who does not lead any more writes nothing, so that its last word of that is old. */
  get problem(): string | undefined {
    const writes = this.#term?.signal.aborted !== true;
    const current = [...this.#refusals].filter(([what]) => what === 'read' || writes);
    return current.map(([, problem]) => problem).join('; ') || undefined;
  }

  async read(name: string): Promise<string | undefined> {
    checkName(name);
    const found = await this.#inTurn(() => this.#lookToRead());
    return found === undefined ? undefined : documentOf(name, found);
  }

  async write(name: string, document: string, signal?: AbortSignal): Promise<void> {
    await this.replace(name, () => document, signal);
  }

  /**
   * Writes what is made of the document that is there now; undefined leaves it as it is.
   * @throws Retry when the server does not answer, Refused when it or the size does not allow it
   */
  async replace(
    name: string,
    change: (current: string | undefined) => string | undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    checkName(name);
    await this.#inTurn(async () => {
      for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
        if (await this.#tryWrite(name, change, signal)) return;
      }
      throw new Retry(`others keep writing ${this.#place}`);
    });
  }

  /**
   * A term begins: others have led and written. What they left is looked at before the next write, and what of theirs is still on its
   * way is shut out before anything is read.
   */
  begin(mark: string, signal: AbortSignal): void {
    void this.#inTurn(async () => {
      this.#known = undefined;
      this.#refusals.delete('written');
      this.#term = { mark, signal };
    });
  }

  /** Resolves when nothing is being written any more. */
  async idle(): Promise<void> {
    await this.#last;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  get #place(): string {
    return `ConfigMap ${this.#parts.namespace}/${this.#parts.name}`;
  }

  get #key() {
    return { resource: configMaps, namespace: this.#parts.namespace, name: this.#parts.name };
  }

  /** False where somebody else was there first. */
  async #tryWrite(
    name: string,
    change: (current: string | undefined) => string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const found = await this.#shutOut(this.#known ?? (await this.#look(signal)));
    if (found === 'changed') return false;
    const current = found === undefined ? undefined : documentOf(name, found);
    const document = change(current);
    if (document === undefined || document === current) return true;
    const fields = documentFields(name, document);
    if (found !== undefined) checkSum(found, fields);
    try {
      this.#known = await this.#ask('written', () => this.#send(found, fields, signal));
      return true;
    } catch (error) {
      this.#known = undefined;
      if (isApiError(error, 409) || isApiError(error, 404)) return false;
      throw error;
    }
  }

  #send(
    found: KubeObject | undefined,
    { annotations, data = {}, binaryData = {} }: Change,
    signal: AbortSignal | undefined,
  ): Promise<KubeObject> {
    const { api, namespace, name } = this.#parts;
    const options = { timeout: TIMEOUT_MS, signal };
    if (found === undefined) {
      const content = { data: present(data), binaryData: present(binaryData) };
      return createObject(
        api,
        configMaps,
        { metadata: { namespace, name, annotations }, ...content },
        options,
      );
    }
    const { uid, resourceVersion } = found.metadata;
    const fields = { metadata: { uid, resourceVersion, annotations }, data, binaryData };
    return mergeObject(api, this.#key, fields, { fieldManager: FIELD_MANAGER, ...options });
  }

  async #lookToRead(): Promise<KubeObject | undefined> {
    for (let conflicts = 0; conflicts < MOST_CONFLICTS; conflicts++) {
      const found = await this.#look();
      // Who may not write may read all the same: a write will say so.
      const marked = await this.#shutOut(found).catch((error: unknown) => {
        if (error instanceof Refused) return found;
        throw error;
      });
      if (marked !== 'changed') return marked;
    }
    throw new Retry(`others keep writing ${this.#place}`);
  }

  /** Gives it the mark of the term, where one has begun. */
  async #shutOut(found: KubeObject | undefined): Promise<KubeObject | undefined | 'changed'> {
    const { mark, signal } = this.#term ?? {};
    if (mark === undefined || signal!.aborted || found?.metadata.annotations?.[TERM] === mark) return found;
    const annotations = { [TERM]: mark };
    try {
      this.#known = await this.#ask('written', () => this.#send(found, { annotations }, signal));
      return this.#known;
    } catch (error) {
      this.#known = undefined;
      if (isApiError(error, 409) || isApiError(error, 404)) return 'changed';
      throw error;
    }
  }

  async #look(signal?: AbortSignal): Promise<KubeObject | undefined> {
    this.#known = await this.#ask('read', () =>
      getObject(this.#parts.api, this.#key, { timeout: TIMEOUT_MS, signal }),
    );
    return this.#known;
  }

  /** What the server does not let us do is for somebody to mend, all else passes. */
  async #ask<T>(what: 'read' | 'written', request: () => Promise<T>): Promise<T> {
    try {
      const answer = await request();
      this.#refusals.delete(what);
      return answer;
    } catch (error) {
      if (error instanceof Cancelled || error instanceof Retry) throw error;
      if (isApiError(error, 409) || isApiError(error, 404)) throw error;
      const problem = `${this.#place} cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`;
      if (refusalOf(error) !== undefined || isApiError(error, 422)) this.#refusals.set(what, problem);
      if (isApiError(error, 403) || isApiError(error, 422)) throw new Refused(problem);
      throw new Retry(`${this.#place} cannot be reached`, { cause: error });
    }
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw new Bug(`"${name}" is no name of a document`);
}

function present(entries: Readonly<Record<string, string | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(entries).flatMap(([name, text]) => (text === null ? [] : [[name, text]])),
  );
}
