import * as fc from 'fast-check';
import type { CrtLine, World, WorldBackend, WorldServer } from './world.ts';

const names = ['a', 'b', 'c', 'd'];
const bodies = ['balance roundrobin\n', 'balance leastconn\nhttp-request set-header x-a b\n'];

const server: fc.Arbitrary<WorldServer> = fc.record(
  {
    port: fc.constantFrom(1, 2),
    weight: fc.constantFrom(0, 1, 7),
    state: fc.constantFrom('ready', 'ready', 'drain', 'maint'),
    keywords: fc.constantFrom<readonly string[]>([], [], [], ['check', 'inter', '30s'], ['maxconn', '9']),
  },
  { requiredKeys: ['port'], noNullPrototype: true },
);

/** Some of the names, each with something. */
function table<T>(keys: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc
    .tuple(...keys.map((key) => fc.option(value, { freq: 3 }).map((chosen) => [key, chosen] as const)))
    .map((rows) =>
      Object.fromEntries(rows.flatMap(([key, chosen]) => (chosen === null ? [] : [[key, chosen] as const]))),
    );
}

const backend: fc.Arbitrary<WorldBackend> = fc.record(
  { body: fc.constantFrom(...bodies), servers: table(names, server) },
  { noNullPrototype: true },
);

const value = fc.constantFrom(...names, 'x;y \\ "z" #', 'nowhere');

const line = (certificate: string, sni: readonly string[], options = ''): CrtLine => ({
  certificate,
  options,
  sni,
});
const lines = [
  line('two', ['two.test'], 'alpn h2'),
  line('two', ['*.two.test', 'also.two.test']),
  // One of its names is another line's, too.
  line('three', ['three.test', 'two.test'], 'verify optional ca-file ca/root.pem'),
];

/** Certificates by name, each with the name of its text. */
interface Tls {
  readonly one: string;
  readonly two: string;
  readonly authority: string;
  readonly crtLines: readonly CrtLine[];
}

/** What one step changes; everything else stays. */
interface Change extends Partial<Omit<World, 'certificates' | 'authorities' | 'crtLines' | 'extra'>> {
  /** Servers of backends that are there. */
  readonly servers?: Readonly<Record<string, WorldBackend['servers']>>;
  readonly tls?: Partial<Tls>;
  readonly extra?: boolean;
}

function change(pems: readonly string[], authorities: readonly string[]): fc.Arbitrary<Change> {
  const rarely = <T>(arbitrary: fc.Arbitrary<T>, freq: number): fc.Arbitrary<T | undefined> =>
    fc.oneof({ arbitrary: fc.constant(undefined), weight: freq }, { arbitrary, weight: 1 });
  const parts = fc.record(
    {
      backends: rarely(table(names, backend), 4),
      servers: rarely(table(names, table(names, server)), 1),
      hosts: rarely(table(['a.test', 'b.test', 'c.test'], value), 1),
      paths: rarely(table(['/', '/a', '/a/b'], value), 2),
      leaves: rarely(table(names, value), 2),
      rules: rarely(
        fc.shuffledSubarray([
          ['^/r1', 'a'],
          ['^/r', 'b'],
          ['\\.html$', 'c'],
        ] as const),
        2,
      ),
      tls: rarely(
        fc.record(
          {
            one: fc.constantFrom(...pems),
            two: fc.constantFrom(...pems),
            authority: fc.constantFrom(...authorities),
            crtLines: fc.subarray(lines),
          },
          { requiredKeys: [], noNullPrototype: true },
        ),
        1,
      ),
      extra: rarely(fc.boolean(), 8),
    },
    { noNullPrototype: true },
  );
  return parts.map(
    (chosen) => Object.fromEntries(Object.entries(chosen).filter(([, part]) => part !== undefined)) as Change,
  );
}

/** Worlds that follow each other, each with a few changes of all kinds; what stands for PEM texts is only named. */
export function worldSequence(
  pems: readonly string[],
  authorities: readonly string[],
  length: number,
): fc.Arbitrary<readonly World[]> {
  return fc
    .array(change(pems, authorities), { minLength: length, maxLength: length })
    .map((changes) => follow(changes, pems[0] ?? '', authorities[0] ?? ''));
}

function follow(changes: readonly Change[], pem: string, authority: string): World[] {
  let tls: Tls = { one: pem, two: pem, authority, crtLines: lines };
  const first: WorldBackend = { body: bodies[0]!, servers: { a: { port: 1 }, b: { port: 2 } } };
  let world: World = { backends: { a: first, b: first }, hosts: { 'a.test': 'a', 'b.test': 'b' } };
  return changes.map(({ servers = {}, tls: newTls, extra, ...parts }) => {
    tls = { ...tls, ...newTls };
    world = { ...world, ...parts };
    const backends = Object.entries(world.backends).map(
      ([name, facts]) => [name, { ...facts, servers: servers[name] ?? facts.servers }] as const,
    );
    world = { ...world, backends: Object.fromEntries(backends), ...tlsParts(tls) };
    const { extra: _, ...plain } = world;
    if (extra !== undefined) world = extra ? { ...plain, extra: 'http-request set-header x-extra y' } : plain;
    return world;
  });
}

/** As templates do it: what no line names is not there. */
function tlsParts({ one, two, authority, crtLines }: Tls): Partial<World> {
  const namesIt = crtLines.some(({ options }) => options.includes('ca/root.pem'));
  const named = (name: string): boolean => crtLines.some(({ certificate }) => certificate === name);
  return {
    certificates: { one, ...(named('two') && { two }), ...(named('three') && { three: one }) },
    authorities: namesIt ? { root: authority } : {},
    crtLines: [line('one', ['one.test']), ...crtLines],
  };
}
