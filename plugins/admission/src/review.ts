import { redactText, z, type KubeObject } from '@haptic/core/contract';

const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string().optional(),
    generateName: z.string().optional(),
    namespace: z.string().optional(),
  }),
});

const asked = z.looseObject({
  uid: z.string().min(1),
  operation: z.enum(['CREATE', 'UPDATE', 'DELETE', 'CONNECT']),
  resource: z.looseObject({ group: z.string(), version: z.string(), resource: z.string() }),
  name: z.string().optional(),
  namespace: z.string().optional(),
  object: object.nullish(),
  oldObject: object.nullish(),
});

/** A Namespace is in none, but is said to be in itself. */
const request = asked.transform((one): z.output<typeof asked> => {
  const isNamespace = one.resource.group === '' && one.resource.resource === 'namespaces';
  return isNamespace ? { ...one, namespace: undefined } : one;
});

/** What an API server asks (admission.k8s.io/v1), as far as it is read here. */
export const reviewSchema = z.looseObject({
  apiVersion: z.literal('admission.k8s.io/v1'),
  kind: z.literal('AdmissionReview'),
  request,
});
export type ReviewRequest = z.output<typeof request>;

export interface ReviewAnswer {
  readonly allowed: boolean;
  /** Why not. */
  readonly message?: string;
  /** Of HTTP: 403 for a verdict, 503 where there is none. */
  readonly code?: number;
  readonly warnings?: readonly string[];
}

export function apiVersionOf({ resource: { group, version } }: ReviewRequest): string {
  return group === '' ? version : `${group}/${version}`;
}

/** The object that is to be; a name that the server has still to make up gets one, since everything here goes by names. */
export function proposedObject({ object: proposed, namespace }: ReviewRequest): KubeObject | undefined {
  if (proposed === undefined || proposed === null) return undefined;
  const { generateName = '', name = `${generateName}(generated)` } = proposed.metadata;
  return {
    ...proposed,
    metadata: { ...proposed.metadata, name, ...(namespace !== undefined && { namespace }) },
  } as KubeObject;
}

/** The API server cuts what is longer, in the middle of a word and without saying so. */
const LONGEST_WARNING = 240;
const MOST_WARNINGS = 15;
const LONGEST_MESSAGE = 4_096;

/** Judges quote what they judge, and neither who proposes nor who reads logs may read every Secret. Before anything is cut. */
export function redacted({ message, warnings, ...answer }: ReviewAnswer): ReviewAnswer {
  return {
    ...answer,
    ...(message !== undefined && { message: redactText(message) }),
    ...(warnings !== undefined && { warnings: warnings.map(redactText) }),
  };
}

export function reviewBody(uid: string, { allowed, message, code, warnings = [] }: ReviewAnswer): object {
  const shown = warnings.slice(0, MOST_WARNINGS).map((text) => shorten(text, LONGEST_WARNING));
  if (warnings.length > MOST_WARNINGS) shown.push(`… and ${warnings.length - MOST_WARNINGS} more`);
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid,
      allowed,
      ...(message !== undefined && { status: { code, message: shorten(message, LONGEST_MESSAGE) } }),
      ...(shown.length > 0 && { warnings: shown }),
    },
  };
}

function shorten(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
