import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { RouteCompiler, type CompiledRoutes } from './compiler.ts';
import { anyHost, parseHost } from './host.ts';
import type { Listener, Route } from './route.ts';

const ingress: Listener = { portKey: 'i80', host: anyHost, fallThrough: 'namespace' };

interface Draft {
  readonly namespace?: string;
  readonly name?: string;
  readonly host?: string;
  readonly path?: string;
  readonly method?: string;
  readonly age?: number;
  readonly service?: string;
  readonly listener?: Listener;
  readonly security?: boolean;
  readonly kind?: Route['path']['kind'];
}

function route(draft: Draft): Route {
  const { namespace = 'red', name = 'app', host, path = '/', method, age = 1, service = 'web' } = draft;
  const { listener = ingress, security = false, kind = 'prefix' } = draft;
  return {
    origin: {
      object: { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace, name },
      rule: 0,
      index: 0,
    },
    listener,
    host: parseHost(host, 'one-label') ?? { kind: 'exact', name: host ?? '' },
    path: { kind, value: path },
    conditions: method === undefined ? [] : [{ kind: 'method', value: method }],
    targets: [{ to: { kind: 'backend', backend: { namespace, service, port: 80 } }, weight: 1 }],
    age,
    security,
  };
}

function compile(drafts: readonly Draft[], tenancy: 'shared' | 'strict' = 'shared'): CompiledRoutes {
  return new RouteCompiler().compile({ routes: drafts.map(route), listeners: [ingress], tenancy });
}

function texts(entries: CompiledRoutes['hosts']): readonly string[] {
  return entries.map(({ key, value }) => `${key} ${value}`);
}

describe('plain routes', () => {
  test('are one path entry each, and one line for their host', () => {
    const compiled = compile([
      { host: 'a.test', path: '/x' },
      { host: 'a.test', path: '/y', kind: 'exact', service: 'other' },
    ]);
    expect(texts(compiled.hosts)).toEqual(['i80/a.test -|i80/a.test', 'i80/* -']);
    expect(texts(compiled.paths)).toEqual(['i80/a.test/x/ red_web_80', 'i80/a.test/y/? red_other_80']);
    expect(texts(compiled.ids)).toEqual(['i80/a.test/x/ red/app/0', 'i80/a.test/y/? red/app/0']);
    expect(compiled.backends.map(({ name }) => name)).toEqual(['red_web_80', 'red_other_80']);
    expect(compiled.lists).toEqual([]);
  });

  test('need no list above a conditional one, which falls back to them', () => {
    const compiled = compile([
      { host: 'a.test', path: '/' },
      { host: 'a.test', path: '/x', method: 'POST', service: 'poster' },
    ]);
    const [list] = compiled.lists;
    expect(texts(compiled.paths)).toEqual(['i80/a.test/ red_web_80', `i80/a.test/x/ ?${list?.key}|`]);
    expect(decodeURIComponent(list?.value ?? '')).toMatch(
      /^m=POST>red_poster_80\|=\w+\|,>red_web_80\|=\w+\|$/,
    );
  });
});

describe('conflicts', () => {
  test('the older route wins, across objects and kinds, and the report says who is in the way', () => {
    const { shadowed, backends } = compile([
      { host: 'a.test', name: 'young', age: 2, service: 'young' },
      { host: 'a.test', name: 'old', age: 1, service: 'old' },
    ]);
    expect(backends.map(({ name }) => name)).toEqual(['red_old_80']);
    expect(shadowed).toMatchObject([
      { reason: 'RouteShadowed', origin: { object: { name: 'young' } }, by: { object: { name: 'old' } } },
    ]);
  });

  test('one that is only proposed is younger than all', () => {
    const { age: _, ...proposed } = route({ host: 'a.test', name: 'a', service: 'proposed' });
    const routes = [proposed, route({ host: 'a.test', name: 'b', age: 9 })];
    const { backends } = new RouteCompiler().compile({ routes, listeners: [ingress], tenancy: 'shared' });
    expect(backends.map(({ name }) => name)).toEqual(['red_web_80']);
  });

  test('paths that requests cannot tell apart are one path', () => {
    const { shadowed } = compile([
      { host: 'a.test', path: '/%61//b', age: 1 },
      { host: 'a.test', path: '/a/b/', age: 2 },
    ]);
    expect(shadowed).toHaveLength(1);
  });
});

describe('tenancy', () => {
  const shop = { host: 'shop.test', path: '/shop' };

  test('a request falls to hostless rules of the namespaces on its host alone', () => {
    const { hosts, paths } = compile([
      shop,
      { path: '/', service: 'mine' },
      { namespace: 'blue', path: '/b' },
    ]);
    expect(texts(hosts)).toContain('i80/shop.test -|i80/shop.test|i80/*+red');
    expect(texts(paths)).toContain('i80/*+red/ red_mine_80');
    expect(texts(paths).filter((text) => text.startsWith('i80/*+red'))).toHaveLength(1);
  });

  test('the table itself serves when all of it may be seen', () => {
    const { hosts } = compile([shop, { path: '/' }]);
    expect(texts(hosts)).toContain('i80/shop.test -|i80/shop.test|i80/*');
  });

  test('a route without traffic gives its namespace no way in', () => {
    const { hosts } = compile([
      shop,
      { ...shop, namespace: 'blue', age: 2 },
      { namespace: 'blue', path: '/' },
    ]);
    expect(texts(hosts)).toContain('i80/shop.test -|i80/shop.test');
  });

  test('strict: the oldest namespace owns the host', () => {
    const other = { host: 'shop.test', path: '/other', namespace: 'blue', age: 2 };
    expect(compile([shop, other]).shadowed).toEqual([]);
    expect(compile([shop, other], 'strict').shadowed).toMatchObject([
      {
        reason: 'HostOwned',
        origin: { object: { namespace: 'blue' } },
        by: { object: { namespace: 'red' } },
      },
    ]);
    const hostless = { path: '/', namespace: 'blue', age: 2 };
    expect(compile([{ path: '/x' }, hostless], 'strict').shadowed).toEqual([]);
  });
});

describe('listeners', () => {
  const gateway = (host: string | undefined): Listener => ({
    portKey: 'g80',
    host: parseHost(host, 'suffix') ?? anyHost,
    fallThrough: 'listener',
  });

  test('a host falls no further than its listener', () => {
    const { hosts } = compile([
      { host: 'a.own.test', listener: gateway('*.own.test') },
      { listener: gateway(undefined) },
    ]);
    expect(texts(hosts)).toContain('g80/a.own.test -|g80/a.own.test');
    expect(texts(hosts)).toContain('g80/*.own.test -');
    expect(texts(hosts)).toContain('g80/* -|g80/*');
  });

  test('a route for hosts of a more specific listener gets no traffic', () => {
    const { shadowed } = new RouteCompiler().compile({
      routes: [route({ host: 'a.own.test', listener: gateway(undefined) })],
      listeners: [gateway('*.own.test')],
      tenancy: 'shared',
    });
    expect(shadowed).toMatchObject([{ reason: 'OtherListener' }]);
  });
});

test('hosts that can reach a route with an access rule have the mark', () => {
  const { hosts } = compile([
    { host: 'a.test' },
    { path: '/admin', security: true },
    { host: 'b.test', namespace: 'blue' },
  ]);
  expect(texts(hosts)).toEqual([
    'i80/a.test -!|i80/a.test|i80/*',
    'i80/* -!|i80/*',
    'i80/b.test -|i80/b.test',
  ]);
});

describe('what could not be written', () => {
  test.each<[string, Draft]>([
    ['a host', { host: 'a b' }],
    ['a path with a line feed', { path: '/a\nb' }],
    ['a relative path', { path: 'a' }],
    ['an empty regular expression', { path: '', kind: 'regex' }],
    ['a method', { method: 'GET /' }],
    ['a Service', { service: 'a b' }],
    ['a namespace', { namespace: 'a b' }],
    ['an object', { name: 'a b' }],
    ['a port key', { listener: { ...ingress, portKey: 'i/80' } }],
  ])('%s shadows its route alone', (_what, draft) => {
    const compiled = compile([draft, { host: 'fine.test', path: '/fine' }]);
    expect(compiled.shadowed).toMatchObject([{ reason: 'RouteInvalid' }]);
    expect(texts(compiled.paths)).toEqual(['i80/fine.test/fine/ red_web_80']);
  });

  test('rules beyond the limit of a path are the youngest ones', () => {
    const many = Array.from({ length: 1001 }, (_, age) => ({ method: `M${age}`, age: 1001 - age }));
    expect(compile(many).shadowed).toMatchObject([{ reason: 'TooManyRules' }]);
    expect(compile(many).shadowed[0]?.message).toContain('1000 older');
  });
});

describe('from one compilation to the next', () => {
  const draft = fc.record({
    namespace: fc.constantFrom('red', 'blue'),
    name: fc.constantFrom('m', 'n'),
    host: fc.constantFrom(undefined, 'a.test', 'b.a.test', '*.a.test'),
    path: fc.constantFrom('/', '/a', '/a/b', '/b'),
    kind: fc.constantFrom('exact' as const, 'prefix' as const, 'regex' as const),
    method: fc.constantFrom(undefined, undefined, 'GET', 'PUT'),
    age: fc.integer({ min: 1, max: 3 }),
    service: fc.constantFrom('web', 'api'),
  });
  const routes = fc.array(draft, { minLength: 1, maxLength: 12 }).map((drafts) =>
    drafts.map(({ host, method, ...rest }) => {
      return route({ ...rest, ...(host !== undefined && { host }), ...(method !== undefined && { method }) });
    }),
  );
  /** Each step keeps some routes, as the identical objects, and adds some. */
  const steps = fc.array(
    fc.record({
      keep: fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
      add: routes,
      strict: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  );

  test('the result is that of a cold start', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const compiler = new RouteCompiler();
        let current: readonly Route[] = [];
        for (const { keep, add, strict } of list) {
          current = [...current.filter((_, index) => keep[index] === true), ...add];
          const input = {
            routes: current,
            listeners: [ingress],
            tenancy: strict ? ('strict' as const) : ('shared' as const),
          };
          expect(compiler.compile(input)).toEqual(new RouteCompiler().compile(input));
        }
      }),
      { numRuns: 200 },
    );
  });

  test('tables whose routes did not change are the identical objects', () => {
    const compiler = new RouteCompiler();
    const kept = [route({ host: 'a.test' }), route({ host: 'b.test', service: 'b' })];
    const input = { listeners: [ingress], tenancy: 'shared' as const };
    const before = compiler.compile({ ...input, routes: kept });
    const after = compiler.compile({ ...input, routes: [...kept, route({ host: 'b.test', path: '/x' })] });
    const table = (compiled: CompiledRoutes, name: string) =>
      compiled.tables.find((one) => one.name === name);
    expect(table(after, 'i80/a.test')).toBe(table(before, 'i80/a.test'));
    expect(table(after, 'i80/b.test')).not.toBe(table(before, 'i80/b.test'));
    expect(after.hosts[0]).toBe(before.hosts[0]);
    expect(after.paths[0]).toBe(before.paths[0]);
    expect(after.backends[1]).toBe(before.backends[1]);
  });
});
