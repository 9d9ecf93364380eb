import type { KubeObject } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { forEachVersion } from '../haproxy/versions.ts';
import { requestBytes } from './case-table.ts';
import { serviceObject, sliceObject } from './rules.ts';
import { outcomeOf, startSite, upstream, type Site } from './site.ts';

const networking = 'networking.k8s.io/v1';
const created = (day: number): string => `2030-01-0${day}T00:00:00Z`;

function ingressClass(
  name: string,
  controller: string,
  annotations: Record<string, string> = {},
): KubeObject {
  return {
    apiVersion: networking,
    kind: 'IngressClass',
    metadata: { name, annotations },
    spec: { controller },
  };
}

function ingress(namespace: string, name: string, day: number, spec: object): KubeObject {
  const metadata = { namespace, name, creationTimestamp: created(day) };
  return { apiVersion: networking, kind: 'Ingress', metadata, spec: { ingressClassName: 'haptic', ...spec } };
}

function to(name: string, port: object = { number: 80 }): object {
  return { service: { name, port } };
}

function rule(host: string | undefined, paths: Readonly<Record<string, object>>): object {
  const list = Object.entries(paths).map(([path, backend]) => ({ path, pathType: 'Prefix', backend }));
  return { ...(host !== undefined && { host }), http: { paths: list } };
}

const ingresses: readonly KubeObject[] = [
  ingress('red', 'shop', 1, {
    rules: [
      rule('shop.test', { '/': to('web'), '/api': to('api', { name: 'http' }) }),
      rule('*.shop.test', { '/': to('web') }),
    ],
  }),
  ingress('blue', 'guest', 2, {
    rules: [
      rule('shop.test', { '/': to('web'), '/guest': to('web') }),
      rule(undefined, { '/well-known': to('web') }),
    ],
  }),
  ingress('red', 'broken', 3, {
    rules: [
      rule('bad host', { '/': to('web') }),
      rule('half.test', { 'no-slash': to('web'), '/line\nfeed': to('web'), '/fine': to('web') }),
      rule('half.test', {
        '/gone': to('gone'),
        '/port': to('web', { number: 81 }),
        '/bucket': { resource: {} },
      }),
    ],
  }),
  ingress('red', 'leftover', 4, {
    rules: [rule('left.test', { '/a': to('api') })],
    defaultBackend: to('web'),
  }),
  ingress('red', 'foreign', 5, {
    ingressClassName: 'other',
    rules: [rule('foreign.test', { '/': to('web') })],
  }),
  ingress('red', 'everything', 6, { defaultBackend: to('api') }),
];

const services = ['red/web', 'red/api', 'blue/web'].map((key) => {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
});

async function start(haproxy: Parameters<typeof startSite>[0], config: object = {}): Promise<Site> {
  const { port } = await upstream();
  return startSite(haproxy, {
    config,
    objects: {
      ingresses,
      ingressclasses: [
        ingressClass('haptic', 'haproxy-haptic.org/ingress-controller'),
        ingressClass('other', 'example.org/other'),
      ],
      services: services.map(serviceObject),
      endpointslices: services.map((service) => sliceObject(service, port)),
    },
  });
}

async function get(site: Site, url: string): Promise<string> {
  const slash = url.indexOf('/');
  const request = { method: 'GET', host: url.slice(0, slash), path: url.slice(slash) };
  return outcomeOf(await site.send('i80', requestBytes(request)));
}

forEachVersion((haproxy) => {
  test('Ingresses are served, conflicts and mistakes reported', async () => {
    const site = await start(haproxy);
    const wanted = {
      'shop.test/': 'red_web_80',
      'shop.test/api/1': 'red_api_80',
      'a.shop.test/': 'red_web_80',
      'a.b.shop.test/': 'red_api_80',
      'shop.test/guest': 'blue_web_80',
      // The hostless rule of a namespace that has a rule on the host; behind the host's own "/", which always matches.
      'shop.test/well-known': 'red_web_80',
      'nobody.test/well-known': 'blue_web_80',
      'half.test/fine': 'red_web_80',
      'half.test/gone': '503',
      'half.test/port': '503',
      'half.test/bucket': '503',
      'left.test/a': 'red_api_80',
      'left.test/b': 'red_web_80',
      'nobody.test/': 'red_api_80',
      'foreign.test/': 'red_api_80',
    };
    for (const [url, backend] of Object.entries(wanted))
      expect([url, await get(site, url)]).toEqual([url, backend]);
    const events = site.rendered.plan.events.map(({ object, reason }) => `${object.name} ${reason}`);
    expect(events.toSorted()).toEqual([
      'broken BackendUnsupported',
      'broken PortMissing',
      'broken RouteInvalid',
      'broken RouteInvalid',
      'broken RouteInvalid',
      'broken ServiceMissing',
      'guest RouteShadowed',
    ]);
  });

  test('in strict tenancy a host belongs to the namespace that had it first', async () => {
    const site = await start(haproxy, { tenancy: { hosts: 'strict' } });
    expect(await get(site, 'shop.test/guest')).toBe('red_web_80');
    expect(await get(site, 'nobody.test/well-known')).toBe('blue_web_80');
    const owned = site.rendered.plan.events.filter(({ reason }) => reason === 'HostOwned');
    expect(owned.map(({ object }) => object.name)).toEqual(['guest', 'guest']);
  });
});
