import { configSchemaWith, librarySchema, type OwnedKey } from '@haptic/core/config';
import type { CelRule, KindDefinition } from '@haptic/kube';
import { haproxyCfgSpec, haproxyCfgStatus } from '@haptic/publish';
import { z } from 'zod';
import { configStatus } from './status-schema.ts';

const WATCH: CelRule = {
  rule: 'has(self.apiVersion) != has(self.apiVersions)',
  message: 'a watch needs either apiVersion or apiVersions, not both',
};

const ENUM: CelRule = {
  rule: "(self.type == 'enum') == has(self.enum)",
  message: 'enum lists the values of an annotation of type "enum", and only of one',
};

/** `_global` is what all tests share. */
const TESTS: CelRule = {
  rule: "self.all(name, (name == '_global') != has(self[name].assertions))",
  message: 'every validation test needs assertions, and _global, which all tests share, takes none',
};

const content = {
  'spec.watchedResources.*': [WATCH],
  'spec.annotations.*': [ENUM],
  'spec.validationTests': [TESTS],
};

function neededWithoutLibraries(field: string): CelRule {
  return {
    rule: `has(self.${field}) || (has(self.libraryRefs) && size(self.libraryRefs) > 0)`,
    message: `${field} is required where libraryRefs names no library that could supply it`,
  };
}

/** The one complete config. */
export function configKind(owned: readonly OwnedKey[]): KindDefinition {
  return {
    kind: 'HAProxyTemplateConfig',
    plural: 'haproxytemplateconfigs',
    shortNames: ['htplcfg', 'haptpl'],
    description:
      'The configuration of a HAPTIC installation: what it watches, its templates and the libraries below them.',
    spec: configSchemaWith(owned),
    status: configStatus,
    rules: {
      ...content,
      spec: [neededWithoutLibraries('haproxyConfig'), neededWithoutLibraries('watchedResources')],
    },
    keyed: { 'spec.libraryRefs': 'name' },
    columns: [
      {
        name: 'Validated',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='Validated')].status",
        description: 'Whether the newest version is the one that serves',
      },
      { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Validated')].reason" },
      {
        name: 'Message',
        type: 'string',
        jsonPath: ".status.conditions[?(@.type=='Validated')].message",
        priority: 1,
      },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  };
}

/** A library in the cluster says its revision, which the config refers to. */
const clusterLibrary = z.strictObject({ ...librarySchema.shape, revision: z.string().min(1) });

/** Content that a config refers to. */
export const libraryKind: KindDefinition = {
  kind: 'HAProxyTemplateLibrary',
  plural: 'haproxytemplatelibraries',
  shortNames: ['htpllib'],
  description: 'Templates, maps and their tests that a HAProxyTemplateConfig refers to by name and revision.',
  spec: clusterLibrary,
  rules: content,
  columns: [
    { name: 'Revision', type: 'string', jsonPath: '.spec.revision' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};

/** What the controller has published. */
export const publishedKind: KindDefinition = {
  kind: 'HAProxyCfg',
  plural: 'haproxycfgs',
  shortNames: ['hpcfg'],
  description:
    'What a HAPTIC installation released last, and how far its HAProxy pods are. Written by the controller.',
  spec: haproxyCfgSpec,
  status: haproxyCfgStatus,
  rules: {},
  columns: [
    { name: 'Plan', type: 'string', jsonPath: '.spec.planId' },
    {
      name: 'Applied',
      type: 'string',
      jsonPath: ".status.conditions[?(@.type=='Applied')].status",
      description: 'Whether all pods have it',
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
};
