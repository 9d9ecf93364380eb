import { z } from '@haptic/core/contract';

/** One way to reach the HAProxy pods, as a status says it. */
export type Address = { readonly ip: string } | { readonly hostname: string };

const Ingress = z.looseObject({ ip: z.string().optional(), hostname: z.string().optional() });

const Service = z.looseObject({
  spec: z
    .looseObject({
      type: z.string().optional(),
      clusterIP: z.string().optional(),
      externalName: z.string().optional(),
      externalIPs: z.array(z.string()).nullish(),
    })
    .optional(),
  status: z
    .looseObject({ loadBalancer: z.looseObject({ ingress: z.array(Ingress).nullish() }).nullish() })
    .nullish(),
});

/**
 * Where a Service is reached from outside. A load balancer: what its provider reports, and the external addresses. Node ports: the
 * external addresses, else the cluster's own, since nodes come and go. Empty while there is none.
 */
export function addressesOf(service: unknown): readonly Address[] {
  const parsed = Service.safeParse(service);
  if (!parsed.success) return [];
  const { type = 'ClusterIP', clusterIP, externalName = '', externalIPs } = parsed.data.spec ?? {};
  const external = (externalIPs ?? []).map((ip) => ({ ip }));
  switch (type) {
    case 'ExternalName':
      return externalName === '' ? [] : [{ hostname: externalName }];
    case 'LoadBalancer':
      return distinct([...reported(parsed.data.status?.loadBalancer?.ingress ?? []), ...external]);
    default:
      if (external.length > 0) return distinct(external);
      return clusterIP === undefined || clusterIP === '' || clusterIP === 'None' ? [] : [{ ip: clusterIP }];
  }
}

function reported(entries: readonly z.output<typeof Ingress>[]): readonly Address[] {
  return entries.flatMap(({ ip = '', hostname = '' }): readonly Address[] => {
    if (ip !== '') return [{ ip }];
    return hostname === '' ? [] : [{ hostname }];
  });
}

function distinct(addresses: readonly Address[]): readonly Address[] {
  return [...new Map(addresses.map((address) => [addressText(address), address])).values()];
}

/** The address as one word. */
export function addressText(address: Address): string {
  return 'ip' in address ? address.ip : address.hostname;
}
