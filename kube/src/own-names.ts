import type { KindGroup } from './crd/definition.ts';
import type { Resource } from './resource.ts';

/** As whom the controller owns fields, whichever of its plugins writes them. */
export const FIELD_MANAGER = 'haptic';

/** Of the kinds that the chart defines. */
export const kindGroup: KindGroup = { group: 'haproxy-haptic.org', version: 'v1alpha1' };

function ownKind(kind: string, resource: string): Resource {
  return { apiVersion: `${kindGroup.group}/${kindGroup.version}`, resource, kind, namespaced: true };
}

export const configResource = ownKind('HAProxyTemplateConfig', 'haproxytemplateconfigs');
export const libraryResource = ownKind('HAProxyTemplateLibrary', 'haproxytemplatelibraries');
export const haproxyCfgResource = ownKind('HAProxyCfg', 'haproxycfgs');
