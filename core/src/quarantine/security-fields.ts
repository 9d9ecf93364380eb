import type { KubeObject, MergedConfig, SecurityFields, SecurityFieldsRegistry } from '../contract/index.ts';
import { canonicalJson } from '../values/canonical-json.ts';

/** What of objects protects somebody: an edit of it that fails must not be answered by the laxer revision before it. */
export class SecurityFieldsOfKinds implements SecurityFieldsRegistry {
  readonly #byKind = new Map<string, SecurityFields[]>();

  add(fields: SecurityFields): void {
    const kind = `${fields.apiVersion} ${fields.kind}`;
    this.#byKind.set(kind, [...(this.#byKind.get(kind) ?? []), fields]);
  }

  isEdited(before: KubeObject, after: KubeObject, config: Pick<MergedConfig, 'annotations'>): boolean {
    return this.#text(before, config) !== this.#text(after, config);
  }

  #text(object: KubeObject, { annotations }: Pick<MergedConfig, 'annotations'>): string {
    const carried = Object.entries(object.metadata.annotations ?? {});
    const declared = carried.filter(
      ([name]) => Object.hasOwn(annotations, name) && annotations[name]!.security,
    );
    const fields = this.#byKind.get(`${object.apiVersion} ${object.kind}`) ?? [];
    return canonicalJson([Object.fromEntries(declared), ...fields.map((of) => of.fields(object) ?? null)]);
  }
}
