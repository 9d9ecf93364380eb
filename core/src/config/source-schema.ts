import { z } from 'zod';
import { GLOBAL_TEST } from '../contract/config.ts';
import { PluginError } from '../contract/errors.ts';
import {
  annotationContent,
  fileContent,
  haproxyConfig,
  jsonObject,
  mapContent,
  templateContent,
} from './content-schema.ts';
import { controller } from './controller-schema.ts';
import { annotationName, fileName, snippetName, testName, watchName } from './names.ts';
import { globalTest, validationTest } from './validation-test-schema.ts';
import { watch } from './watch-schema.ts';

/** A key of the config kind with the plugin that owns it. */
export interface OwnedKey {
  readonly plugin: string;
  readonly key: string;
  readonly schema: z.ZodType;
}

const validationTests = z
  .object({ [GLOBAL_TEST]: globalTest.exactOptional() })
  .catchall(validationTest)
  .superRefine((tests, context) => {
    for (const name of Object.keys(tests)) {
      for (const { message } of testName.safeParse(name).error?.issues ?? []) {
        context.addIssue({ code: 'custom', path: [name], message });
      }
    }
  });

/** What libraries and the config share. */
const content = {
  haproxyConfig: haproxyConfig.exactOptional(),
  templateSnippets: z.record(snippetName, templateContent).default({}),
  maps: z.record(fileName, mapContent).default({}),
  files: z.record(fileName, fileContent).default({}),
  sslCertificates: z.record(fileName, templateContent).default({}),
  k8sResources: z.record(fileName, templateContent).default({}),
  annotations: z.record(annotationName, annotationContent).default({}),
  validationTests: validationTests.default({}),
  settings: jsonObject.default({}),
  watchedResources: z.record(watchName, watch).default({}),
};

const libraryRef = z.strictObject({ name: z.string().min(1), revision: z.string().min(1) });

/** A library's file is its spec without the revision, which whoever ships it adds. */
export const librarySchema = z.strictObject({ ...content, revision: z.string().min(1).exactOptional() });

const configSchema = z.strictObject({
  ...content,
  libraryRefs: z.array(libraryRef).default([]),
  controller: controller.prefault({}),
});

export type ParsedContent = Omit<z.output<typeof librarySchema>, 'revision'>;
export type ParsedConfig = z.output<typeof configSchema>;

/**
 * The schema of the config kind with the keys that plugins own. A plugin's schema that accepts nothing makes its key optional.
 * @throws PluginError for a key that is taken.
 */
export function configSchemaWith(owned: readonly OwnedKey[]): z.ZodObject {
  const shape: Record<string, z.ZodType> = { ...configSchema.shape };
  const owners = new Map<string, string>();
  for (const { plugin, key, schema } of owned) {
    if (Object.hasOwn(shape, key)) {
      const owner = owners.get(key);
      const whose = owner === undefined ? 'the core' : `plugin ${owner}`;
      throw new PluginError('PLUGIN_SETUP', plugin, `the key "${key}" of the config belongs to ${whose}`);
    }
    shape[key] = schema;
    owners.set(key, plugin);
  }
  return z.strictObject(shape);
}
