import {
  parseFieldRequirements,
  parseFieldSelector,
  parseLabelRequirements,
  parseLabelSelector,
  type FieldRequirement,
  type KubeObject,
  type WatchContent,
} from '@haptic/core/contract';

/** Which objects of its kind a watch is about. */
export type Selection = Pick<WatchContent, 'resources' | 'apiVersions'> &
  Partial<Pick<WatchContent, 'namespaces' | 'labelSelector' | 'fieldSelector'>>;

/** Secrets of these types are kept by nobody: the history of Helm releases is large, and tokens are not for proxies. */
const UNWANTED_SECRETS = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';

/** Labels of an object by the words of a webhook. `Gt` and `Lt` are not among them: those are left to the controller. */
interface ObjectSelector {
  readonly matchExpressions: readonly object[];
}

export function isSelected(selection: Selection, object: KubeObject): boolean {
  const { labelSelector = '' } = selection;
  return (
    parseLabelSelector(labelSelector)(object.metadata.labels) &&
    fieldSelectors(selection).every((text) => parseFieldSelector(text)(object))
  );
}

/** A watch of Secrets that names its own sees them whatever their type is, and whether or not an object names them. */
export function namesItsSecret(selection: Selection): boolean {
  return (
    isSecrets(selection) &&
    parseFieldRequirements(selection.fieldSelector ?? '').some(
      ({ path, equal }) => equal && path.join('.') === 'metadata.name',
    )
  );
}

/** Objects that are in no namespace pass it always; but for Namespaces, which are compared themselves. */
export function namespaceSelector({
  apiVersions,
  resources,
  namespaces = [],
}: Selection): object | undefined {
  const areNamespaces = resources === 'namespaces' && apiVersions.includes('v1');
  if (namespaces.length === 0 || areNamespaces) return undefined;
  return { matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces }] };
}

/** An API server asks where the old object or the new one matches, so that one which comes or goes is a change, too. */
export function objectSelector({ labelSelector = '' }: Selection): ObjectSelector | undefined {
  const matchExpressions = parseLabelRequirements(labelSelector)
    .filter(({ operator }) => operator !== 'Gt' && operator !== 'Lt')
    .map(({ key, operator, values }) => ({ key, operator, ...(values.length > 0 && { values }) }));
  return matchExpressions.length === 0 ? undefined : { matchExpressions };
}

/** A webhook has no selector for fields; in CEL they are compared as text, an absent one as empty text. */
export function fieldCondition(selection: Selection): string | undefined {
  const requirements = fieldSelectors(selection).flatMap(parseFieldRequirements);
  if (requirements.length === 0) return undefined;
  const all = (object: string): string => requirements.map((one) => claim(object, one)).join(' && ');
  return `(${all('object')}) || (request.operation == 'UPDATE' && ${all('oldObject')})`;
}

function fieldSelectors(selection: Selection): readonly string[] {
  const { fieldSelector } = selection;
  return [
    ...(fieldSelector === undefined ? [] : [fieldSelector]),
    ...(isSecrets(selection) ? [UNWANTED_SECRETS] : []),
  ];
}

function isSecrets({ apiVersions, resources }: Selection): boolean {
  return resources === 'secrets' && apiVersions.includes('v1');
}

function claim(object: string, { path, value, equal }: FieldRequirement): string {
  const field = `${object}${path.map((name) => `[?${celText(name)}]`).join('')}.orValue('')`;
  // Equal to the text, or to what is written like it: a number, or yes and no.
  const literals = [celText(value), ...(/^(?:true|false|-?\d{1,15})$/.test(value) ? [value] : [])];
  const equals = literals.map((literal) => `${field} == ${literal}`).join(' || ');
  return equal ? `(${equals})` : `!(${equals})`;
}

/** What JSON writes in quotes CEL reads as the same text. */
export function celText(text: string): string {
  return JSON.stringify(text);
}
