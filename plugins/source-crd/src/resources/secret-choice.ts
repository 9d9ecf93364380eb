import { parseFieldRequirements, type KubeObject, type WatchContent } from '@haptic/core/contract';
import type { Changes } from '@haptic/kube';
import { secretKey, type SecretReferences } from './secret-references.ts';
import type { Selection } from './shared-watch.ts';
import { subscribeToAll } from './subscribe-to-all.ts';
import type { Subscribe } from './succession.ts';
import type { WatchPool } from './watch-pool.ts';

const TLS = 'kubernetes.io/tls';

/** Nobody gets these, not even by name: the history of Helm releases is large, and tokens are not for proxies. */
const NEVER = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';

/** Each Secret by name is a connection. Where more are named the others are asked for all together, and dropped on arrival. */
const MOST_BY_NAME = 100;

/** `namespace/name` as there may be one. Users write these names: what is none would be read as more claims of a selector. */
const POSSIBLE = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\/[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

/** `secrets` of the core API: only some of them may enter memory. */
export function isSecrets({
  apiVersions,
  resources,
}: Pick<WatchContent, 'apiVersions' | 'resources'>): boolean {
  return resources === 'secrets' && apiVersions.includes('v1');
}

/** Whoever selects by name has named what is wanted. */
export function selectsByName({ fieldSelector = '' }: Pick<WatchContent, 'fieldSelector'>): boolean {
  return parseFieldRequirements(fieldSelector).some(
    ({ path, equal }) => equal && path.join('.') === 'metadata.name',
  );
}

export function isTls(secret: KubeObject): boolean {
  return secret['type'] === TLS;
}

/** Without what never comes. */
export function allowedSecrets(
  { fieldSelector, ...selection }: Selection,
  ...claims: readonly string[]
): Selection {
  const all = [...(fieldSelector === undefined ? [] : [fieldSelector]), ...claims, NEVER];
  return { ...selection, fieldSelector: all.join(',') };
}

/**
 * Which Secrets a watch asks the server for: those of the type for certificates, and by name what objects name besides. The others
 * stay with the server.
 */
export class SecretChoice {
  /** Of the watch, as its configuration has it. */
  readonly #selection: Selection;
  readonly #references: SecretReferences;
  readonly #pool: WatchPool;
  /** Asked for by name; undefined: nothing yet, since it is not known which of the named ones their type brings. */
  #named: ReadonlySet<string> | undefined;
  /** Those that their type has brought. */
  readonly #byType = new Set<string>();
  /** Asked for by name and answered; undefined: nothing yet. */
  #answered: ReadonlySet<string> | undefined;

  constructor(selection: Selection, references: SecretReferences, pool: WatchPool) {
    this.#selection = selection;
    this.#references = references;
    this.#pool = pool;
  }

  /** Whether what is named has been asked for, too. */
  get isAsked(): boolean {
    return this.#named !== undefined;
  }

  /** Whether it has come. */
  get isWhole(): boolean {
    return this.#answered !== undefined;
  }

  /** Whether it is not known yet if there is this one. */
  awaits(name: string): boolean {
    return !this.#byType.has(name) && this.#answered?.has(name) !== true && this.#isSeen(name);
  }

  /** Something is named that is not asked for, or asked for and named no more. */
  get isOutdated(): boolean {
    const named = this.#named;
    if (named === undefined) return false;
    const isLeftOver = [...named].some((name) => !this.#references.has(name));
    return isLeftOver || this.#missing().some((name) => !named.has(name));
  }

  /** By type alone. */
  byType(): Subscribe {
    const selection = allowedSecrets(this.#selection, `type=${TLS}`);
    return (subscriber) => this.#pool.subscribe(selection, subscriber);
  }

  /** By type, and what is named now. */
  whole(): Subscribe {
    const missing = this.#missing();
    const named = new Set(missing);
    this.#named = named;
    const others = missing.length > MOST_BY_NAME ? [this.#sifted(named)] : this.#byName(missing);
    return (subscriber) =>
      subscribeToAll([this.byType(), ...others], {
        replace: (secrets) => {
          this.#answered = named;
          subscriber.replace(secrets);
        },
        apply: (changes) => subscriber.apply(changes),
      });
  }

  replaced(secrets: readonly KubeObject[]): void {
    this.#byType.clear();
    for (const secret of secrets) this.#note(secret);
  }

  applied({ upserts, deletes }: Changes): void {
    for (const name of deletes) this.#byType.delete(secretKey(name));
    for (const secret of upserts) this.#note(secret);
  }

  #note(secret: KubeObject): void {
    const key = secretKey(secret.metadata);
    if (isTls(secret)) this.#byType.add(key);
    else this.#byType.delete(key);
  }

  /** Named ones that this watch is about and that their type does not bring. */
  #missing(): readonly string[] {
    return [...this.#references.names()].filter((key) => !this.#byType.has(key) && this.#isSeen(key));
  }

  #isSeen(key: string): boolean {
    const { namespaces } = this.#selection;
    return POSSIBLE.test(key) && (namespaces.length === 0 || namespaces.includes(namespaceOf(key)));
  }

  /** One of the type for certificates comes by its type: nothing comes twice. */
  #byName(names: readonly string[]): readonly Subscribe[] {
    return names.map((key) => {
      const namespace = namespaceOf(key);
      const claim = `metadata.name=${key.slice(namespace.length + 1)}`;
      const selection = allowedSecrets(
        { ...this.#selection, namespaces: [namespace] },
        claim,
        `type!=${TLS}`,
      );
      return (subscriber) => this.#pool.subscribe(selection, subscriber);
    });
  }

  #sifted(names: ReadonlySet<string>): Subscribe {
    const selection = allowedSecrets(this.#selection, `type!=${TLS}`);
    const filter = {
      key: JSON.stringify([...names].toSorted()),
      keep: ({ metadata }: KubeObject) => names.has(secretKey(metadata)),
    };
    return (subscriber) => this.#pool.subscribe(selection, subscriber, filter);
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'));
}
