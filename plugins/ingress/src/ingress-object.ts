import { z } from 'zod';
import type { KubeObject } from '@haptic/core/contract';

const backendSchema = z.object({
  service: z
    .object({
      name: z.string(),
      port: z.object({ name: z.string().nullish(), number: z.number().nullish() }).nullish(),
    })
    .nullish(),
});
export type IngressBackend = z.output<typeof backendSchema>;

const pathSchema = z.object({
  path: z.string().nullish(),
  pathType: z.string().nullish(),
  backend: backendSchema,
});
export type IngressPath = z.output<typeof pathSchema>;

/** The parts of an Ingress that are read; what the API server would refuse is judged rule by rule, not here. */
const ingressSchema = z.object({
  spec: z.object({
    ingressClassName: z.string().nullish(),
    defaultBackend: backendSchema.nullish(),
    rules: z
      .array(
        z.object({
          host: z.string().nullish(),
          http: z.object({ paths: z.array(pathSchema).default([]) }).nullish(),
        }),
      )
      .nullish(),
    tls: z
      .array(z.object({ hosts: z.array(z.string()).nullish(), secretName: z.string().nullish() }))
      .nullish(),
  }),
});
export type IngressSpec = z.output<typeof ingressSchema>['spec'];

export type ReadIngress =
  | { readonly spec: IngressSpec; readonly problem?: never }
  | { readonly spec?: never; readonly problem: string };

const read = new WeakMap<KubeObject, ReadIngress>();

/** Reads a frozen Ingress once. */
export function readIngress(object: KubeObject): ReadIngress {
  let result = read.get(object);
  if (result === undefined) {
    const parsed = ingressSchema.safeParse(object);
    result = parsed.success ? { spec: parsed.data.spec } : { problem: firstIssue(parsed.error) };
    read.set(object, result);
  }
  return result;
}

function firstIssue({ issues }: z.ZodError): string {
  const [issue] = issues;
  return issue === undefined ? 'it is no Ingress' : `${issue.path.join('.')}: ${issue.message}`;
}
