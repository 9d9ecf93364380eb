import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createObject, getObject, type Resource } from '@haptic/kube';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { forEachCluster } from '../cluster/index.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import {
  condition,
  invalidConfigs,
  invalidPublished,
  invalidPublishedStatuses,
  published,
  validConfigs,
  validPublished,
} from './crd-examples.ts';
import { configs, libraries, publications, sharedDefinitions } from './definitions.ts';

function shippedLibraries(): readonly [string, object][] {
  const folder = new URL('../../chart/libraries/', import.meta.url);
  return readdirSync(folder).map((file) => [
    file.replace('.yaml', ''),
    parse(readFileSync(new URL(file, folder), 'utf8')) as object,
  ]);
}

forEachCluster((cluster, programs) => {
  beforeAll(() => sharedDefinitions(cluster().api), 60_000);

  const collection = ({ apiVersion, resource }: Resource, namespace: string): string =>
    `/apis/${apiVersion}/namespaces/${namespace}/${resource}`;

  /** The way of kubectl: unknown fields are refused. */
  async function post(resource: Resource, namespace: string, name: string, spec: object): Promise<void> {
    await cluster().api.json({
      method: 'POST',
      path: collection(resource, namespace),
      query: { fieldValidation: 'Strict' },
      body: { apiVersion: resource.apiVersion, kind: resource.kind, metadata: { name }, spec },
    });
  }

  async function create(resource: Resource, name: string, spec: object): Promise<void> {
    await using namespace = await cluster().namespace();
    await post(resource, namespace.name, name, spec);
    const key = { resource, namespace: namespace.name, name };
    expect(await getObject(cluster().api, key), 'stored as it was written').toMatchObject({ spec });
  }

  async function putStatus(
    resource: Resource,
    namespace: string,
    name: string,
    status: object,
  ): Promise<void> {
    const live = await getObject(cluster().api, { resource, namespace, name });
    await cluster().api.json({
      method: 'PUT',
      path: `${collection(resource, namespace)}/${name}/status`,
      query: { fieldValidation: 'Strict' },
      body: { ...live, status },
    });
  }

  describe('definitions', () => {
    test.each([configs, libraries, publications])('$resource is structural', async ({ resource: plural }) => {
      const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.haproxy-haptic.org`;
      const { status } = (await cluster().api.json({ path })) as {
        status: { conditions: { type: string; status: string; message: string }[] };
      };
      const conditions = new Map(status.conditions.map((one) => [one.type, one]));
      expect(conditions.get('Established')?.status).toBe('True');
      expect(conditions.get('NamesAccepted')?.status).toBe('True');
      expect(conditions.get('NonStructuralSchema')).toBeUndefined();
    });
  });

  describe('a config', () => {
    test.each(validConfigs)('may have %s', (_, spec) => create(configs, 'config', spec));

    test.each(invalidConfigs)('may not have %s', async (_, spec, message) => {
      await expect(create(configs, 'config', spec)).rejects.toThrow(message);
    });
  });

  describe('a library', () => {
    test.each(shippedLibraries())('may be the shipped %s', (name, spec) =>
      create(libraries, name, { ...spec, revision: `${name}-1` }),
    );

    test('needs a revision', async () => {
      await expect(create(libraries, 'x', {})).rejects.toThrow(/spec\.revision: Required/);
    });

    test('refers to no other library', async () => {
      await expect(create(libraries, 'x', { revision: '1', libraryRefs: [] })).rejects.toThrow(
        /unknown field "spec\.libraryRefs"/,
      );
    });
  });

  describe('what is published', () => {
    test.each(validPublished)('may have %s', (_, spec) => create(publications, 'haptic', spec));

    test.each(invalidPublished)('may not have %s', async (_, spec, message) => {
      await expect(create(publications, 'haptic', spec)).rejects.toThrow(message);
    });

    test('needs a spec', async () => {
      await using namespace = await cluster().namespace();
      const metadata = { name: 'haptic', namespace: namespace.name };
      await expect(createObject(cluster().api, publications, { metadata })).rejects.toThrow(/spec: Required/);
    });

    test.each(invalidPublishedStatuses)('may not have a status with %s', async (_, status, message) => {
      await using namespace = await cluster().namespace();
      await post(publications, namespace.name, 'haptic', published);
      await expect(putStatus(publications, namespace.name, 'haptic', status)).rejects.toThrow(message);
    });
  });

  describe('kubectl get', () => {
    /** The lines that the server made, as words. */
    async function get(
      namespace: string,
      what: string,
      ...flags: readonly string[]
    ): Promise<readonly (readonly string[])[]> {
      const dir = await tempDir();
      const kubeconfig = join(dir, 'kubeconfig');
      await writeFile(kubeconfig, cluster().adminKubeconfig);
      const place = [`--kubeconfig=${kubeconfig}`, `--cache-dir=${dir}/cache`, `--namespace=${namespace}`];
      const { stdout } = await execa(programs.kubectl, [...place, 'get', what, ...flags], {
        timeout: 60_000,
      });
      return stdout.split('\n').map((line) => line.trim().split(/\s+/));
    }

    const AGE: unknown = expect.stringMatching(/^\d+m?s?/);

    test.each(['htplcfg', 'haptpl', 'haproxytemplateconfig'])('%s says what became of it', async (word) => {
      await using namespace = await cluster().namespace();
      await post(configs, namespace.name, 'haptic', validConfigs[0]![1]);
      const status = { conditions: [condition('False', 'Validated', 'Refused')] };
      await putStatus(configs, namespace.name, 'haptic', status);
      expect(await get(namespace.name, word)).toEqual([
        ['NAME', 'VALIDATED', 'REASON', 'AGE'],
        ['haptic', 'False', 'Refused', AGE],
      ]);
    });

    test('htplcfg says in full what is wrong where there is room', async () => {
      await using namespace = await cluster().namespace();
      await post(configs, namespace.name, 'haptic', validConfigs[0]![1]);
      const refused = { ...condition('False', 'Validated', 'Refused'), message: 'expected-endif' };
      await putStatus(configs, namespace.name, 'haptic', { conditions: [refused] });
      expect(await get(namespace.name, 'htplcfg', '--output=wide')).toEqual([
        ['NAME', 'VALIDATED', 'REASON', 'MESSAGE', 'AGE'],
        ['haptic', 'False', 'Refused', 'expected-endif', AGE],
      ]);
    });

    test.each(['htpllib', 'haproxytemplatelibrary'])('%s says its revision', async (word) => {
      await using namespace = await cluster().namespace();
      await post(libraries, namespace.name, 'base', { revision: 'base-1' });
      expect(await get(namespace.name, word)).toEqual([
        ['NAME', 'REVISION', 'AGE'],
        ['base', 'base-1', AGE],
      ]);
    });

    test.each(['hpcfg', 'haproxycfg'])('%s says which plan, and whether all have it', async (word) => {
      await using namespace = await cluster().namespace();
      await post(publications, namespace.name, 'haptic', { ...published, planId: 'plan-1' });
      await putStatus(publications, namespace.name, 'haptic', { conditions: [condition('True')] });
      expect(await get(namespace.name, word)).toEqual([
        ['NAME', 'PLAN', 'APPLIED', 'AGE'],
        ['haptic', 'plan-1', 'True', AGE],
      ]);
    });
  });
});
