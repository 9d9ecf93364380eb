import type { ApplyMessage } from '@haptic/agent/protocol';
import type { Rendered } from '@haptic/core/contract';
import type { Deployer } from './deployer.ts';
import type { World } from './world.ts';

/** An apply that is going to be disturbed. */
export interface Attempt {
  readonly message: ApplyMessage;
  readonly before: Rendered;
  /** What it ends with: the same again where HAProxy refuses what is sent. */
  readonly after: Rendered;
  readonly worldAfter: World;
  /** Of a way back: a restart that has to load what is in place proves it, and then there is nothing to go back to. */
  readonly worldProven?: World;
  /** All that may be in place for a moment. */
  readonly passing: readonly Rendered[];
}

/** One way that an apply can go. */
export interface Scenario {
  readonly name: string;
  /** Options of the agent. */
  readonly options: Readonly<Record<string, string>>;
  /** What the pod answers when nothing is disturbed. */
  readonly outcome: string;
  /** What a repeat may be answered after it was disturbed. */
  readonly repeats: readonly string[];
  /** From the world that is deployed to another one for each number. */
  prepare(deployer: Deployer, world: World, number: number): Promise<Attempt>;
}

export interface Texts {
  readonly pem: string;
  readonly otherPem: string;
}

/** Everything that operations can change, other than in the world of the number before. */
export function worldOf(number: number, { pem, otherPem }: Texts): World {
  const odd = number % 2 === 1;
  const servers = { a: { port: 1, weight: (number % 7) + 1 }, [`s${number}`]: { port: 2 } };
  return {
    backends: { app: { body: 'balance roundrobin\n', servers } },
    hosts: { 'a.test': 'app', [`h${number}.test`]: 'app' },
    leaves: { app: String(number) },
    certificates: { a: odd ? pem : otherPem, ...(odd && { b: otherPem }) },
    crtLines: [
      { certificate: 'a', options: '', sni: ['a.test'] },
      ...(odd ? [{ certificate: 'b', options: 'alpn h2', sni: ['b.test'] }] : []),
    ],
  };
}

/** HAProxy refuses it after it has taken those before it. */
const refusedOp = { op: 'map.set', map: 'maps/hosts.map', key: 'nowhere.test', value: 'app' } as const;

interface Bend {
  /** In the frontend of what is sent; the operations are those for the world without it. */
  readonly bogus?: string;
  readonly refusedOp?: true;
}

async function towards(deployer: Deployer, world: World, to: World, bend: Bend = {}): Promise<Attempt> {
  const { applied: before } = deployer;
  if (before === undefined) throw new Error('deploy something first');
  const refused = bend.bogus !== undefined;
  const next = deployer.render(refused ? { ...to, extra: bend.bogus } : to);
  const plan = await deployer.plan(bend.refusedOp ? deployer.render(to) : next);
  const message = deployer.message(next, bend.refusedOp ? { ...plan, ops: [...plan.ops, refusedOp] } : plan);
  return {
    message,
    before,
    after: refused ? before : next,
    worldAfter: refused ? world : to,
    passing: [before, next],
  };
}

const header = (number: number): string => `http-response set-header x-generation ${number}`;

/** `extra` differs: only a reload does. */
function loadable(number: number, texts: Texts): World {
  return { ...worldOf(number, texts), extra: header(number) };
}

/** `extra` stays: operations do. */
function changeable(number: number, texts: Texts, { extra }: World): World {
  return { ...worldOf(number, texts), ...(extra !== undefined && { extra }) };
}

async function deployed(deployer: Deployer, world: World, outcome: string): Promise<Rendered> {
  const { reply } = await deployer.deploy(world);
  if (reply.body.outcome !== outcome) throw new Error(`expected ${outcome}: ${JSON.stringify(reply)}`);
  return deployer.applied!;
}

export function scenarios(texts: Texts): readonly Scenario[] {
  return [
    {
      name: 'a reload',
      options: {},
      outcome: 'reload',
      repeats: ['reload'],
      prepare: (deployer, world, n) => towards(deployer, world, loadable(n, texts)),
    },
    {
      name: 'operations',
      options: {},
      outcome: 'runtime',
      repeats: ['runtime', 'reload', 'noop', 'scheduled'],
      prepare: (deployer, world, n) => towards(deployer, world, changeable(n, texts, world)),
    },
    {
      name: 'operations of which one is refused',
      options: {},
      outcome: 'reload',
      repeats: ['reload', 'noop', 'scheduled'],
      prepare: (deployer, world, n) =>
        towards(deployer, world, changeable(n, texts, world), { refusedOp: true }),
    },
    {
      name: 'a refused reload',
      options: {},
      outcome: 'rejected',
      repeats: ['rejected'],
      prepare: (deployer, world, n) => towards(deployer, world, loadable(n, texts), { bogus: `bogus-${n}` }),
    },
    {
      name: 'a refused reload after operations',
      options: {},
      outcome: 'rejected',
      repeats: ['rejected'],
      prepare: (deployer, world, n) =>
        towards(deployer, world, changeable(n, texts, world), { bogus: `bogus-${n}`, refusedOp: true }),
    },
    {
      name: 'a way back',
      options: {},
      outcome: 'reload',
      repeats: ['reload', 'noop', 'file_only'],
      prepare: async (deployer, _world, n) => {
        const worldAfter = loadable(n, texts);
        const after = await deployed(deployer, worldAfter, 'reload');
        const worldProven = changeable(n + 1, texts, worldAfter);
        const before = await deployed(deployer, worldProven, 'runtime');
        const message = deployer.revert();
        return { message, before, after, worldAfter, worldProven, passing: [before, after] };
      },
    },
    {
      name: 'a reload that waits for its turn',
      options: { 'reload-interval-min': '1500' },
      outcome: 'scheduled',
      repeats: ['scheduled', 'reload'],
      prepare: async (deployer, _world, n) => {
        const first = loadable(n, texts);
        await deployer.deploy(first);
        return towards(deployer, first, loadable(n + 1, texts));
      },
    },
  ];
}
