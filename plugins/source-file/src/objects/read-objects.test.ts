import { describe, expect, it } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { readDocuments } from '../yaml/documents.ts';
import { readObjects, type Admission } from './read-objects.ts';

async function read(text: string, admission: Admission = () => []) {
  return readObjects(await readDocuments('f.yaml', text), admission);
}

async function problemsOf(text: string, admission?: Admission): Promise<readonly string[]> {
  try {
    await read(text, admission);
  } catch (error) {
    if (error instanceof Refused) return error.problems.map(({ where, message }) => `${where}: ${message}`);
    throw error;
  }
  return [];
}

const service = (name: string, rest = '') =>
  `{apiVersion: v1, kind: Service, metadata: {name: ${name}${rest}}}`;

describe('readObjects', () => {
  it('puts objects into the namespace default, and cluster-scoped ones into none', async () => {
    const objects = await read(
      [
        service('a'),
        service('b', ', namespace: shop'),
        '{apiVersion: v1, kind: Namespace, metadata: {name: shop, namespace: odd}}',
      ].join('\n---\n'),
    );
    expect(objects.map(({ object }) => object.metadata)).toEqual([
      { name: 'a', namespace: 'default' },
      { name: 'b', namespace: 'shop' },
      { name: 'shop' },
    ]);
  });

  it('flattens lists, typed and nested ones', async () => {
    const objects = await read(
      `
apiVersion: v1
kind: List
items:
- ${service('a')}
- {apiVersion: v1, kind: List, items: [${service('b')}]}
---
apiVersion: networking.k8s.io/v1
kind: IngressList
items:
- metadata: {name: c}
  spec: {x: 1}
---
apiVersion: v1
kind: List
items: []
`,
    );
    expect(
      objects.map(({ object, position }) => [
        object.kind,
        object.apiVersion,
        object.metadata.name,
        position.line,
      ]),
    ).toEqual([
      ['Service', 'v1', 'a', 5],
      ['Service', 'v1', 'b', 6],
      ['Ingress', 'networking.k8s.io/v1', 'c', 11],
    ]);
    expect(objects[2]!.object['spec']).toEqual({ x: 1 });
  });

  it('leaves a kind alone that only ends like a list', async () => {
    const [located] = await read('{apiVersion: a/v1, kind: AllowList, metadata: {name: x}, spec: {}}');
    expect(located!.object.kind).toBe('AllowList');
  });

  it.each([
    ['just text', ['f.yaml:1:1: no Kubernetes object: expected a mapping']],
    [
      'kind: Service\nmetadata: {namespace: x}\n',
      [
        'f.yaml:1:1: no Kubernetes object: apiVersion is missing or no text',
        'f.yaml:2:1: no Kubernetes object: metadata.name is missing or no text',
      ],
    ],
    [
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: 5\n',
      ['f.yaml:4:9: no Kubernetes object: metadata.name is missing or no text'],
    ],
    [
      'apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  namespace: [x]\n',
      ['f.yaml:5:14: metadata.namespace is no text'],
    ],
    [
      'apiVersion: v1\nkind: List\nitems:\n- kind: Service\n- 3\n',
      [
        'f.yaml:4:3: no Kubernetes object: apiVersion is missing or no text',
        'f.yaml:4:3: no Kubernetes object: metadata.name is missing or no text',
        'f.yaml:5:3: no Kubernetes object: expected a mapping',
      ],
    ],
    [
      `${service('a')}\n---\n${service('a', ', namespace: default')}\n`,
      ['f.yaml:3:1: Service default/a is already defined at f.yaml:1:1'],
    ],
  ])('refuses %j', async (text, problems) => {
    expect(await problemsOf(text)).toEqual(problems);
  });

  it('refuses what is not admitted, at its place, also in lists', async () => {
    const text = `apiVersion: v1\nkind: ServiceList\nitems:\n- metadata: {name: a}\n  spec:\n    ports: none\n`;
    const admission: Admission = ({ kind }) => [{ path: ['spec', 'ports'], message: `no ${kind}'s` }];
    expect(await problemsOf(text, admission)).toEqual([`f.yaml:6:12: Service a: spec.ports: no Service's`]);
  });

  it('takes two versions of an object for one', async () => {
    const versions = [
      '{apiVersion: a.b/v1, kind: X, metadata: {name: x}}',
      '{apiVersion: a.b/v2, kind: X, metadata: {name: x}}',
    ];
    expect(await problemsOf(versions.join('\n---\n'))).toHaveLength(1);
  });
});
