import type { Rendered } from '@haptic/core/contract';
import type { World } from '../../test/agent/world.ts';
import { BODY, certificateOf, name, pemOf } from './bench-world.ts';

/** What is known of the pod when a case is measured. */
export interface Situation {
  readonly world: World;
  readonly applied: Rendered;
  /** PEM of a certificate other than the one in use. */
  readonly pem: string;
}

/** One change, and the bare commands for the same. */
export interface BenchCase {
  readonly name: string;
  readonly outcome: 'runtime' | 'reload';
  readonly change: (situation: Situation) => World;
  /** What brings the worker there, and what takes it back; lines for its socket. */
  readonly bare?: (situation: Situation) => readonly [there: string, back: string];
  /** Measured so often; a reload takes its time. */
  readonly rounds: number;
}

const ROUNDS = 40;

const server: BenchCase = {
  name: 'one server changed',
  outcome: 'runtime',
  rounds: ROUNDS,
  change: ({ world }) => ({
    ...world,
    backends: { ...world.backends, [name(7)]: { body: BODY, servers: { s: { port: 1, weight: 2 } } } },
  }),
  bare: () => [`set server ${name(8)}/s weight 2`, `set server ${name(8)}/s weight 1`],
};

const entry: BenchCase = {
  name: 'one map entry added',
  outcome: 'runtime',
  rounds: ROUNDS,
  change: ({ world }) => ({ ...world, hosts: { ...world.hosts, 'new.test': name(7) } }),
  bare: () => [`add map maps/hosts.map bare.test ${name(7)}`, 'del map maps/hosts.map bare.test'],
};

const routeAdded = ({ world }: Situation): World => ({
  ...world,
  backends: { ...world.backends, new: { body: BODY, servers: { s: { port: 1 } } } },
  hosts: { ...world.hosts, 'new.test': 'new' },
});

const route: BenchCase = {
  name: 'one route added',
  outcome: 'runtime',
  rounds: ROUNDS,
  change: routeAdded,
  bare: ({ applied }) => {
    const [profile] = Object.keys(applied.plan.profiles);
    return [
      [
        `add backend bare from ${profile} mode http guid be:bare`,
        'add server bare/s 127.0.0.1:1 weight 1 guid srv:bare:s',
        'enable server bare/s',
        'publish backend bare',
        'add map maps/hosts.map bare.test bare',
      ].join('; '),
      [
        'del map maps/hosts.map bare.test',
        'unpublish backend bare',
        'disable server bare/s',
        'wait 1s srv-removable bare/s',
        'del server bare/s',
        'wait 1s be-removable bare',
        'del backend bare',
      ].join('; '),
    ];
  },
};

const certificate: BenchCase = {
  name: 'one certificate changed',
  outcome: 'runtime',
  rounds: ROUNDS,
  change: ({ world, pem }) => ({
    ...world,
    certificates: { ...world.certificates, [certificateOf(7)]: pemOf(pem, 'other') },
  }),
  bare: ({ world, pem }) => {
    const path = `certs/${certificateOf(8)}.pem`;
    const lines = (text: string): string =>
      `prompt i; set ssl cert ${path} <<%end%\n${text}%end%\ncommit ssl cert ${path}; quit`;
    return [lines(pemOf(pem, 'other')), lines(world.certificates?.[certificateOf(8)] ?? '')];
  },
};

/** The bare one is asked of the master; see `bench/agent.bench.ts`. */
const reload: BenchCase = {
  name: 'one reload',
  outcome: 'reload',
  rounds: 7,
  change: ({ world }) => ({ ...world, extra: 'http-response set-header x-bench 1' }),
};

export const cases: readonly BenchCase[] = [server, entry, route, certificate, reload];

/** Before 3.4 a route needs a spare backend. */
export const spareCases: readonly BenchCase[] = [
  {
    ...route,
    name: 'one route on a spare backend (3.2)',
    bare: ({ applied }) => {
      const spares = Object.entries(applied.plan.backends).filter(([, { spareFor }]) => spareFor === '');
      const [spare] = spares.at(-1)!;
      return [
        [
          `add server ${spare}/s 127.0.0.1:1 weight 1 guid srv:bare:s`,
          `enable server ${spare}/s`,
          `add map maps/spares.map bare ${spare}`,
          'add map maps/hosts.map bare.test bare',
        ].join('; '),
        [
          'del map maps/hosts.map bare.test',
          'del map maps/spares.map bare',
          `disable server ${spare}/s`,
          `wait 1s srv-removable ${spare}/s`,
          `del server ${spare}/s`,
        ].join('; '),
      ];
    },
  },
];
