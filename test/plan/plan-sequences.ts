import * as fc from 'fast-check';
import type { MapContent, Rendered, Server } from '@haptic/core/contract';
import { sha256 } from '@haptic/core/controller';
import type { RenderOutput } from '@haptic/core/templates';
import {
  backend,
  base,
  mapContent,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../../core/src/testing/render-output.ts';
import { assemble, PlanMemo, type Carried } from '../../core/src/plan/index.ts';

const maps: Readonly<Record<string, MapContent>> = {
  hosts: mapContent({ layer: 'host' }),
  paths: mapContent({ match: 'beg', layer: 'path' }),
  lists: mapContent({ layer: 'list' }),
  acts: mapContent(),
  spares: mapContent(),
  regexes: mapContent({ match: 'reg', layer: 'path' }),
};

/** The one target that is always there. */
export const NOWHERE = '_404';

interface App {
  readonly name: string;
  readonly body: string;
  readonly servers: readonly Server[];
}

/** A small site: hosts name tables, paths of tables name applications or lists, which name applications. */
export interface Site {
  readonly apps: readonly App[];
  readonly hosts: Readonly<Record<string, string>>;
  /** Of every table, the targets of `/` and of `/x/`. */
  readonly tables: Readonly<Record<string, readonly [root: number, x: number | undefined]>>;
  readonly viaList: readonly string[];
  readonly acts: Readonly<Record<string, string>>;
  readonly regexes: readonly string[];
  readonly certificates: Readonly<Record<string, string>>;
  readonly lines: readonly (readonly [certificate: string, sni: readonly string[]])[];
  readonly note: string;
  readonly frontend: string;
}

function pem(text: string): string {
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString('base64')}\n-----END CERTIFICATE-----\n`;
}

function entriesOf(site: Site): RenderOutput['entries'] {
  const rows: (readonly [map: string, key: string, value: string])[] = [];
  const lists = new Map<string, string>();
  const target = (index: number): string => {
    const app = site.apps[index % (site.apps.length + 1)]?.name ?? NOWHERE;
    if (!site.viaList.includes(app)) return app;
    lists.set(`list-${app}`, app);
    return `?list-${app}`;
  };
  for (const table of new Set(Object.values(site.hosts))) {
    const [root, x] = site.tables[table]!;
    rows.push(['paths', `${table}/`, target(root)]);
    if (x !== undefined) rows.push(['paths', `${table}/x/`, target(x)]);
  }
  for (const [host, table] of Object.entries(site.hosts)) rows.push(['hosts', host, table]);
  for (const [id, app] of lists) rows.push(['lists', id, app]);
  for (const [id, value] of Object.entries(site.acts)) rows.push(['acts', id, value]);
  for (const regex of site.regexes) rows.push(['regexes', `^${regex}`, 'v']);
  return rows.map(([name, key, value]) => ({ map: name, key, value, provenance: provenanceOf(key) }));
}

export function render(site: Site, memo = new PlanMemo(sha256), carried: Carried = {}): Rendered {
  const provenance = provenanceOf('site');
  const certificates = { c0: '0', ...site.certificates };
  const output = renderOutput({
    pieces: [
      base,
      profiles,
      section('http', `frontend http from base\n    ${site.frontend}\n`),
      ...site.apps.map(({ name, body, servers }) => backend(name, { body, servers })),
    ],
    entries: entriesOf(site),
    files: [
      { kind: 'file', name: 'note', text: site.note, reloadOnChange: false, secret: false, provenance },
    ],
    certificates: Object.entries(certificates).map(([name, text]) => ({ name, pem: pem(text), provenance })),
    crtLines: [['c0', ['default.test']] as const, ...site.lines]
      .filter(([certificate]) => Object.hasOwn(certificates, certificate))
      .map(([certificate, sni]) => ({ list: 'tls', certificate, options: '', sni: [...sni], provenance })),
  });
  return assemble(output, { maps }, memo, carried);
}

const arbServers = fc
  .uniqueArray(
    fc.record({
      name: fc.constantFrom('p1', 'p2', 'p3', 'p4'),
      address: fc.constantFrom('10.0.0.1', '10.0.0.2', '2001:db8::1'),
      port: fc.constantFrom(80, 8080),
      weight: fc.option(fc.constantFrom(0, 1, 5), { nil: undefined }),
      state: fc.constantFrom('ready', 'ready', 'ready', 'drain', 'maint'),
      keywords: fc.oneof(
        { weight: 20, arbitrary: fc.constant(['check', 'inter', '2s']) },
        { weight: 1, arbitrary: fc.constantFrom([], ['check'], ['redir', '/']) },
      ),
    }),
    { selector: ({ name }) => name, maxLength: 4 },
  )
  .map((servers) =>
    servers.map(({ name, weight, ...rest }) =>
      server(name, { ...rest, guid: '', ...(weight !== undefined && { weight }) }),
    ),
  );

const arbApp: fc.Arbitrary<App> = fc.record({
  name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'constructor'),
  body: fc.oneof(
    { weight: 20, arbitrary: fc.constant('retries 3\n') },
    { weight: 1, arbitrary: fc.constantFrom('', 'balance source\n', 'stick-table type ip size 1k\n') },
  ),
  servers: arbServers,
});

const arbTable = fc.constantFrom('t1', 't2', 't3');
const arbTargets = fc.tuple(fc.nat(7), fc.option(fc.nat(7), { nil: undefined }));
const arbSni = fc.uniqueArray(fc.constantFrom('a.test', 'b.test', '*.b.test', 'c.test'), { maxLength: 2 });

const arbSite: fc.Arbitrary<Site> = fc.record({
  apps: fc.uniqueArray(arbApp, { selector: ({ name }) => name, maxLength: 6 }),
  hosts: fc.dictionary(fc.constantFrom('h1', 'h2', 'h3', 'h4'), arbTable),
  tables: fc.record({ t1: arbTargets, t2: arbTargets, t3: arbTargets }),
  viaList: fc.subarray(['a', 'b', 'c', NOWHERE]),
  acts: fc.dictionary(fc.constantFrom('r1', 'r2', 'r3'), fc.constantFrom('x', 'y')),
  regexes: fc.shuffledSubarray(['a', 'b', 'c']),
  certificates: fc.dictionary(fc.constantFrom('c1', 'c2', 'c3'), fc.constantFrom('1', '2')),
  lines: fc.uniqueArray(fc.tuple(fc.constantFrom('c1', 'c2', 'c3'), arbSni), {
    selector: ([certificate, sni]) => `${certificate} ${sni.join(' ')}`,
    maxLength: 4,
  }),
  note: fc.constantFrom('a', 'b'),
  frontend: fc.oneof(
    { weight: 30, arbitrary: fc.constant('maxconn 1') },
    { weight: 1, arbitrary: fc.constant('maxconn 2') },
  ),
});

/** A site and what becomes of it: some parts of each are new, the others those of the one before. */
export const arbSequence: fc.Arbitrary<readonly Site[]> = fc
  .tuple(
    arbSite,
    fc.array(fc.tuple(arbSite, fc.integer({ min: 1, max: 3 }), fc.nat()), { minLength: 1, maxLength: 5 }),
  )
  .map(([first, changes]) => {
    const sites = [first];
    for (const [fresh, count, start] of changes) {
      const keys = Object.keys(fresh) as readonly (keyof Site)[];
      const taken = Array.from({ length: count }, (_, index) => keys[(start + index * 3) % keys.length]!);
      const before = sites.at(-1)!;
      const site = { ...before, ...Object.fromEntries(taken.map((key) => [key, fresh[key]])) };
      const names = new Set(before.apps.map(({ name }) => name));
      const grown = [...before.apps, ...fresh.apps.filter(({ name }) => !names.has(name))];
      // Mostly applications come, and others stay.
      sites.push(start % 3 === 0 ? site : { ...site, apps: grown });
    }
    return sites;
  });
