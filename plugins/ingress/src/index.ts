import {
  definePlugin,
  OBJECT_CHECKS,
  OBJECT_INTERESTS,
  REACHABLE_KINDS,
  SECURITY_FIELDS,
  TEMPLATE_NAMES,
} from '@haptic/core/contract';
import { ROUTES } from '@haptic/routing';
import { z } from 'zod';
import { ingressCheck } from './ingress-check.ts';
import { ingressInterest, reachableIngresses } from './ingress-class.ts';
import { IngressReader } from './model.ts';

export type { IngressModel } from './model.ts';

/** Translates Ingresses (networking.k8s.io/v1) into routes. */
export default definePlugin({
  name: 'ingress',
  apiVersion: 1,
  options: z.strictObject({
    /** `spec.controller` of the IngressClasses whose Ingresses are served. */
    controllerName: z.string().min(1).default('haproxy-haptic.org/ingress-controller'),
  }),
  after: ['routing'],
  setup(context, { controllerName }) {
    const reader = new IngressReader(controllerName);
    context.use(ROUTES).add({
      name: 'ingress',
      routes(input) {
        const { ingresses, unavailable, listeners, warnings } = reader.read(input);
        return {
          routes: [...ingresses.flatMap(({ routes }) => routes), ...unavailable],
          listeners,
          warnings,
        };
      },
    });
    context.tryUse(OBJECT_CHECKS)?.add(ingressCheck);
    context.tryUse(SECURITY_FIELDS)?.add({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      fields: ({ spec }) => (spec as { readonly tls?: unknown } | null | undefined)?.tls,
    });
    context.tryUse(OBJECT_INTERESTS)?.add(ingressInterest(controllerName));
    context.tryUse(REACHABLE_KINDS)?.add(reachableIngresses(controllerName));
    context.use(TEMPLATE_NAMES).global({
      name: 'ingress',
      doc: 'The Ingresses of this controller.',
      members: [
        {
          name: 'ingresses',
          doc: '`{namespace, name, object, annotations, hosts, tls, routes}` each, by namespace and name.',
        },
      ],
      build: (input) => ({ ingresses: reader.read(input).ingresses }),
    });
  },
});
