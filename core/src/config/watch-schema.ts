import { z } from 'zod';
import { fieldPath, fieldSelector, labelSelector } from './checked-text.ts';
import { duration } from '../contract/duration.ts';

const apiVersion = z
  .string()
  .regex(
    /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\/)?v[0-9][a-z0-9]*$/,
    'expected an API version such as "v1" or "networking.k8s.io/v1"',
  );
const resources = z
  .string()
  .regex(/^[a-z][a-z0-9]*$/, 'expected the plural name of a resource, such as "ingresses"');
const namespace = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'expected the name of a namespace');

export const watch = z
  .strictObject({
    apiVersion: apiVersion.exactOptional(),
    apiVersions: z.array(apiVersion).min(1).exactOptional(),
    resources,
    optional: z.boolean().default(false),
    indexBy: z.array(fieldPath).default([]),
    labelSelector: labelSelector.exactOptional(),
    fieldSelector: fieldSelector.exactOptional(),
    namespaces: z.array(namespace).default([]),
    ignoreFields: z.array(fieldPath).default([]),
    admission: z.boolean().default(false),
    debounce: duration.exactOptional(),
  })
  .transform(({ apiVersion, apiVersions, ...watch }, context) => {
    if ((apiVersion === undefined) !== (apiVersions === undefined)) {
      return { ...watch, apiVersions: apiVersions ?? [apiVersion!] };
    }
    const message =
      apiVersion === undefined
        ? 'missing apiVersion or apiVersions'
        : 'apiVersion and apiVersions exclude each other';
    context.issues.push({ code: 'custom', message, input: watch });
    return z.NEVER;
  });
export type ParsedWatch = z.output<typeof watch>;
