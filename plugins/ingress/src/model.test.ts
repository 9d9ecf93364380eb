import type { GlobalInput, JsonObject, KubeObject, WatchView } from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { IngressReader, type IngressModels } from './model.ts';

const controller = 'haproxy-haptic.org/ingress-controller';

function object(
  kind: string,
  name: string,
  rest: JsonObject,
  annotations: Record<string, string> = {},
): KubeObject {
  const metadata = { namespace: 'shop', name, annotations, creationTimestamp: '2030-01-01T00:00:00Z' };
  return Object.freeze({ apiVersion: 'v1', kind, metadata, ...rest });
}

const ourClass = object('IngressClass', 'haptic', { spec: { controller } });
const otherClass = object('IngressClass', 'other', { spec: { controller: 'example.org/other' } });
const cart = object('Service', 'cart', { spec: { ports: [{ name: 'http', port: 80 }, { port: 8080 }] } });
const far = object('Service', 'far', { spec: { type: 'ExternalName', externalName: 'far.example' } });

interface World {
  readonly ingresses: readonly KubeObject[];
  readonly classes?: readonly KubeObject[];
  readonly services?: readonly KubeObject[];
  /** Ingresses in quarantine. */
  readonly held?: readonly KubeObject[];
}

function watch(objects: readonly KubeObject[], held: readonly KubeObject[] = []): WatchView {
  return {
    served: true,
    list: () => objects,
    get: (namespace, name) =>
      objects.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    by: () => [],
    unavailable: () => held,
  };
}

function input(world: World): GlobalInput {
  const { ingresses, classes = [ourClass, otherClass], services = [cart, far], held } = world;
  const watches: Record<string, WatchView> = {
    ingresses: watch(ingresses, held),
    ingressclasses: watch(classes),
    services: watch(services),
  };
  const view = { revision: 1, watches: Object.keys(watches), watch: (name: string) => watches[name]! };
  return { view, settings: { ingress: { listeners: ['i80'] } } } as unknown as GlobalInput;
}

function read(world: World): IngressModels {
  return new IngressReader(controller).read(input(world));
}

const toCart: JsonObject = { service: { name: 'cart', port: { number: 80 } } };

function ingress(name: string, spec: JsonObject, annotations: Record<string, string> = {}): KubeObject {
  return object('Ingress', name, { spec: { ingressClassName: 'haptic', ...spec } }, annotations);
}

function rule(path: JsonObject, host?: string): JsonObject {
  return { ...(host !== undefined && { host }), http: { paths: [{ backend: toCart, ...path }] } };
}

/** Routes as short texts: kind, host, path, target. */
function routesOf(spec: JsonObject, world: Partial<World> = {}): readonly string[] {
  const { ingresses } = read({ ingresses: [ingress('app', spec)], ...world });
  return ingresses.flatMap(({ routes }) =>
    routes.map(({ host, path, targets }) => {
      const [target] = targets;
      const to =
        target?.to.kind === 'backend'
          ? `${target.to.backend.service}:${target.to.backend.port}`
          : target?.to.kind === 'status'
            ? target.to.status
            : undefined;
      const name = 'name' in host ? host.name : 'parent' in host ? `${host.kind} ${host.parent}` : 'any';
      return `${path.kind} ${name}${path.value} ${to}`;
    }),
  );
}

describe('rules', () => {
  test.each<[string, JsonObject, string]>([
    ['Exact', rule({ path: '/a', pathType: 'Exact' }, 'a.test'), 'exact a.test/a cart:80'],
    ['Prefix', rule({ path: '/a', pathType: 'Prefix' }, 'a.test'), 'prefix a.test/a cart:80'],
    [
      'ImplementationSpecific',
      rule({ path: '/a', pathType: 'ImplementationSpecific' }),
      'prefix any/a cart:80',
    ],
    ['no path', rule({ pathType: 'Prefix' }), 'prefix any/ cart:80'],
    ['no host', rule({ path: '/', pathType: 'Prefix' }), 'prefix any/ cart:80'],
    ['a wildcard', rule({ path: '/', pathType: 'Prefix' }, '*.a.test'), 'prefix one-label a.test/ cart:80'],
    ['a bad host, for the report', rule({ path: '/', pathType: 'Prefix' }, 'a b'), 'prefix a b/ cart:80'],
  ])('%s', (_what, given, wanted) => {
    expect(routesOf({ rules: [given] })).toEqual([wanted]);
  });

  test('an unknown path type warns about its rule alone', () => {
    const rules = [rule({ path: '/a', pathType: 'Regex' }), rule({ path: '/b', pathType: 'Prefix' })];
    const { ingresses, warnings } = read({ ingresses: [ingress('app', { rules })] });
    expect(ingresses[0]?.routes).toHaveLength(1);
    expect(warnings).toMatchObject([{ reason: 'RouteInvalid', message: expect.stringContaining('"Regex"') }]);
  });

  test('an object that is no Ingress warns and breaks nothing', () => {
    const broken = object('Ingress', 'broken', { spec: { ingressClassName: 'haptic', rules: 'none' } });
    const { ingresses, warnings } = read({
      ingresses: [broken, ingress('app', { rules: [rule({ path: '/' })] })],
    });
    expect(ingresses.map(({ name }) => name)).toEqual(['app']);
    expect(warnings).toMatchObject([{ reason: 'IngressInvalid', object: { name: 'broken' } }]);
  });
});

describe('backends', () => {
  const backend = (service: JsonObject): JsonObject => ({
    rules: [rule({ path: '/', backend: { service } })],
  });

  test('a port goes by number or by name', () => {
    expect(routesOf(backend({ name: 'cart', port: { name: 'http' } }))).toEqual(['prefix any/ cart:80']);
    expect(routesOf(backend({ name: 'cart', port: { number: 8080 } }))).toEqual(['prefix any/ cart:8080']);
  });

  test.each<[string, JsonObject, string]>([
    ['no such Service', { service: { name: 'gone', port: { number: 80 } } }, 'ServiceMissing'],
    ['no such port', { service: { name: 'cart', port: { number: 81 } } }, 'PortMissing'],
    ['no port at all', { service: { name: 'cart' } }, 'PortMissing'],
    ['an ExternalName', { service: { name: 'far', port: { number: 80 } } }, 'BackendUnsupported'],
    ['a resource', { resource: { kind: 'Bucket', name: 'b' } }, 'BackendUnsupported'],
  ])('%s answers 503 and warns', (_what, backend, reason) => {
    const spec = { rules: [rule({ path: '/', backend })] };
    expect(routesOf(spec)).toEqual(['prefix any/ 503']);
    expect(read({ ingresses: [ingress('app', spec)] }).warnings).toMatchObject([{ reason }]);
  });
});

describe('the default backend', () => {
  test('without rules it answers for every host that nobody has', () => {
    expect(routesOf({ defaultBackend: toCart })).toEqual(['prefix any/ cart:80']);
  });

  test('with rules it answers for what they leave over of their hosts', () => {
    const rules = [
      rule({ path: '/a', pathType: 'Prefix' }, 'a.test'),
      rule({ path: '/', pathType: 'Prefix' }, 'b.test'),
      { host: 'c.test' },
    ];
    expect(routesOf({ rules, defaultBackend: toCart })).toEqual([
      'prefix a.test/a cart:80',
      'prefix b.test/ cart:80',
      'prefix a.test/ cart:80',
      'prefix c.test/ cart:80',
    ]);
  });
});

describe('classes', () => {
  const namesOf = (ingresses: readonly KubeObject[], classes?: readonly KubeObject[]): readonly string[] =>
    read({ ingresses, ...(classes !== undefined && { classes }) }).ingresses.map(({ name }) => name);
  const plain = (name: string, spec: JsonObject, annotations: Record<string, string> = {}): KubeObject =>
    object('Ingress', name, { spec }, annotations);
  const legacy = 'kubernetes.io/ingress.class';

  test('ours by the name of a class of our controller', () => {
    expect(
      namesOf([
        plain('ours', { ingressClassName: 'haptic' }),
        plain('theirs', { ingressClassName: 'other' }),
        plain('nobodys', { ingressClassName: 'gone' }),
        plain('none', {}),
        plain('annotated', {}, { [legacy]: 'haptic' }),
        plain('annotated-other', {}, { [legacy]: 'other' }),
        plain('field-wins', { ingressClassName: 'other' }, { [legacy]: 'haptic' }),
      ]),
    ).toEqual(['ours', 'annotated']);
  });

  test('without a class: ours when our class is the default', () => {
    const isDefault = { 'ingressclass.kubernetes.io/is-default-class': 'true' };
    const classes = [object('IngressClass', 'haptic', { spec: { controller } }, isDefault)];
    expect(namesOf([plain('none', {})], classes)).toEqual(['none']);
    expect(
      namesOf(
        [plain('none', {})],
        [object('IngressClass', 'other', { spec: { controller: 'x' } }, isDefault)],
      ),
    ).toEqual([]);
  });
});

describe('in quarantine', () => {
  const spec = { rules: [rule({ path: '/a' }, 'a.test'), rule({ path: '/b', pathType: 'Regex' })] };
  const bad = ingress(
    'bad',
    { ...spec, tls: [{ hosts: ['a.test'], secretName: 'x' }] },
    { 'x.io/rewrite': '{' },
  );

  test('hosts and paths answer 503, and templates see nothing of it', () => {
    const { ingresses, unavailable, warnings } = read({ ingresses: [], held: [bad] });
    expect(ingresses).toEqual([]);
    expect(warnings).toEqual([]);
    expect(unavailable).toMatchObject([
      { host: { name: 'a.test' }, path: { value: '/a' }, targets: [{ to: { kind: 'status', status: 503 } }] },
    ]);
  });

  test('of another class nothing is there', () => {
    const foreign = ingress('foreign', { ...spec, ingressClassName: 'other' });
    const broken = object('Ingress', 'broken', { spec: { ingressClassName: 'haptic', rules: 'none' } });
    expect(read({ ingresses: [], held: [foreign, broken] }).unavailable).toEqual([]);
  });

  test('its routes are the identical ones from render to render', () => {
    const reader = new IngressReader(controller);
    const [first] = reader.read(input({ ingresses: [], held: [bad] })).unavailable;
    expect(reader.read(input({ ingresses: [], held: [bad] })).unavailable[0]).toBe(first);
  });
});

describe('from one render to the next', () => {
  const app = ingress('app', { rules: [rule({ path: '/' }, 'a.test')] });

  test('unchanged Ingresses are the identical objects', () => {
    const reader = new IngressReader(controller);
    const before = reader.read(input({ ingresses: [app] }));
    const after = reader.read(
      input({ ingresses: [app, ingress('other', { rules: [rule({ path: '/' })] })] }),
    );
    expect(after.ingresses[0]).toBe(before.ingresses[0]);
  });

  test('a Service that changes without consequence changes nothing, one that goes does', () => {
    const reader = new IngressReader(controller);
    const before = reader.read(input({ ingresses: [app] }));
    const relabelled = object('Service', 'cart', { spec: { ports: [{ name: 'http', port: 80 }] } });
    const same = reader.read(input({ ingresses: [app], services: [relabelled] }));
    expect(same.ingresses[0]).toBe(before.ingresses[0]);
    const gone = reader.read(input({ ingresses: [app], services: [] }));
    expect(gone.ingresses[0]).not.toBe(before.ingresses[0]);
    expect(gone.warnings).toMatchObject([{ reason: 'ServiceMissing' }]);
  });
});

test('settings that name no listeners are refused', () => {
  const bad = { ...input({ ingresses: [] }), settings: { ingress: { listeners: 'i80' } } };
  expect(() => new IngressReader(controller).read(bad)).toThrow('settings.ingress.listeners');
});
