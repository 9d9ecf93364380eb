import { definePlugin, refOf, z } from '@haptic/core/contract';

/** Refuses Ingresses that ask for a wildcard host, other than those that are allowed. */
export default definePlugin({
  name: 'no-wildcard-hosts',
  apiVersion: 1,
  judge: 'custom',
  options: z.strictObject({ allow: z.array(z.string()).default([]) }),
  setup({ name, hooks }, { allow }) {
    hooks.validate.tap(name, (candidate, findings) => {
      for (const ingress of candidate.view.watch('ingresses').list()) {
        const hosts = (ingress.spec?.rules ?? []).map(({ host = '' }) => host);
        for (const host of hosts.filter((host) => host.startsWith('*.') && !allow.includes(host))) {
          const { namespace, name } = ingress.metadata;
          const message = `Ingress ${namespace}/${name}: the host ${host} is not allowed`;
          findings.add({ severity: 'error', message, objects: [refOf(ingress)] });
        }
      }
    });
  },
});
