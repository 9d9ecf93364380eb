import { isDeepStrictEqual } from 'node:util';
import {
  parseFieldPath,
  withoutField,
  type KubeObject,
  type MergedConfig,
  type ReachableKind,
} from '@haptic/core/contract';

/** The server's bookkeeping, and what others say of the object: a generation rises with ignored fields, too. */
const SAYS_NOTHING = [
  ['metadata', 'generation'],
  ['metadata', 'managedFields'],
  ['metadata', 'resourceVersion'],
  ['status'],
];

/** What objects of a kind are stripped of when they arrive, by whichever watch they come. */
export function ignoredFields(
  { apiVersion, resources }: Pick<ReachableKind, 'apiVersion' | 'resources'>,
  watches: MergedConfig['watchedResources'],
): readonly (readonly string[])[] {
  return Object.values(watches)
    .filter((watch) => watch.resources === resources && watch.apiVersions.includes(apiVersion))
    .flatMap(({ ignoreFields }) => ignoreFields.map(parseFieldPath));
}

/** Whether an object as the API has it says what was accepted; the latter has come without the ignored fields. */
export function isAsAccepted(
  live: KubeObject,
  accepted: KubeObject,
  ignored: readonly (readonly string[])[],
): boolean {
  const [now, then] = [live, accepted].map((object) => {
    const { metadata, spec } = [...SAYS_NOTHING, ...ignored].reduce(
      (kept, path) => withoutField(kept, path),
      object,
    );
    const { annotations = {}, labels = {}, uid } = metadata;
    return { uid, annotations, labels, spec };
  });
  return isDeepStrictEqual(now, then);
}
