import { definePlugin, OBJECT_INTERESTS, z } from '@haptic/core/contract';

/** Lets Ingresses name a Secret of their namespace by an annotation. */
export default definePlugin({
  name: 'named-secrets',
  apiVersion: 1,
  options: z.strictObject({ annotation: z.string() }),
  setup(context, { annotation }) {
    context.use(OBJECT_INTERESTS).add({
      apiVersion: 'networking.k8s.io/v1',
      resources: 'ingresses',
      secrets({ metadata: { namespace, annotations } }) {
        const name = annotations?.[annotation];
        return name === undefined ? [] : [{ namespace, name }];
      },
    });
  },
});
