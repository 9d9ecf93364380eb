import { expected, isAbsent, objectCheck, oneOf, parseHost } from '@haptic/routing';
import { z } from 'zod';

/** A text of some form. */
function formed(what: string, isValid: (text: string) => boolean) {
  return z.string(expected(what)).refine(isValid, expected(what));
}

const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const PORT_NAME = /^(?!.{16})(?=.*[a-z])[a-z0-9]+(?:-[a-z0-9]+)*$/;
const PORT_NUMBER = expected('a whole number from 1 to 65535');

const port = z
  .object(
    {
      name: formed(
        'the name of a port: at most 15 lower-case letters, digits and single hyphens',
        (text) => text === '' || PORT_NAME.test(text),
      ).nullish(),
      number: z.number(PORT_NUMBER).int(PORT_NUMBER).min(0, PORT_NUMBER).max(65_535, PORT_NUMBER).nullish(),
    },
    expected('an object with name or number'),
  )
  .refine(
    // Zero and the empty text are absent to the API server.
    ({ name, number }) => Boolean(name) !== Boolean(number),
    { error: 'expected either name or number' },
  );

const backend = z
  .object(
    {
      service: z
        .object(
          {
            name: formed('the name of a Service', (text) => LABEL.test(text)),
            port,
          },
          expected('an object with name and port'),
        )
        .nullish(),
      resource: z.looseObject({}, expected('an object')).nullish(),
    },
    expected('an object with service'),
  )
  .refine(({ service, resource }) => isAbsent(service) !== isAbsent(resource), {
    error: 'expected a service, or else a resource',
  });

/** Sequences that a path of the types with a fixed meaning may not have, since proxies read them in different ways. */
const AMBIGUOUS = /\/\/|\/\.\.?(?:\/|$)|%2f/i;

const path = z
  .object(
    {
      path: z.string(expected('text')).nullish(),
      pathType: oneOf(['Exact', 'Prefix', 'ImplementationSpecific']),
      backend,
    },
    expected('an object with path, pathType and backend'),
  )
  .superRefine(({ path, pathType }, context) => {
    const add = (message: string): void => context.addIssue({ code: 'custom', path: ['path'], message });
    const isFree = pathType === 'ImplementationSpecific';
    if (isFree && (isAbsent(path) || path === '')) return;
    if (path?.startsWith('/') !== true) add(expected('a path that begins with "/"').error({ input: path }));
    else if (!isFree && AMBIGUOUS.test(path)) {
      add(expected('a path without "//", "/./", "/../" and "%2f"').error({ input: path }));
    }
  });

const host = formed(
  'a DNS name such as shop.example or *.shop.example',
  (text) => parseHost(text, 'one-label') !== undefined,
);

const rule = z.object(
  {
    host: host.nullish(),
    http: z
      .object(
        {
          paths: z.array(path, expected('a list of paths')).min(1, { error: 'must not be empty' }),
        },
        expected('an object with paths'),
      )
      .nullish(),
  },
  expected('an object with host and http'),
);

const tls = z.object(
  {
    hosts: z.array(host, expected('a list of hosts')).nullish(),
    secretName: z.string(expected('text')).nullish(),
  },
  expected('an object with hosts and secretName'),
);

const spec = z
  .object(
    {
      ingressClassName: z.string(expected('text')).nullish(),
      defaultBackend: backend.nullish(),
      rules: z.array(rule, expected('a list of rules')).nullish(),
      tls: z.array(tls, expected('a list')).nullish(),
    },
    expected('an object with rules'),
  )
  .refine(({ rules, defaultBackend }) => (rules ?? []).length > 0 || !isAbsent(defaultBackend), {
    error: 'expected rules or a defaultBackend',
  });

/** What the Kubernetes API refuses of an Ingress; of a field that it does not know it only warns. */
export const ingressCheck = objectCheck('networking.k8s.io/v1', 'Ingress', z.object({ spec }));
