import type { Backend, Section, Server } from '../contract/index.ts';
import type { BackendPiece } from '../templates/output.ts';
import { readBody, type Body } from './backend-body.ts';
import type { Hash, TextFacts } from './hash.ts';
import type { Problems } from './problems.ts';
import type { BaseHarm } from './proxy-lines.ts';
import type { Recent } from './recent.ts';
import { whyNotAddable } from './server-keywords.ts';
import { isProxyName, serverFault, serverLine } from './server-line.ts';

/** One section of `haproxy.cfg` with its text. */
export interface BuiltSection {
  readonly section: Section;
  readonly text: string;
}

export interface BuiltProfile extends BuiltSection {
  readonly base: string;
}

export interface BuiltBackend extends BuiltSection {
  readonly record: Backend;
  /** Undefined for a backend that keeps its directives to itself. */
  readonly profile?: BuiltProfile;
  /** What was known of its base. */
  readonly base: BaseHarm;
}

/** What HAProxy takes as a guid at most. */
const LONGEST_GUID = 127;

/** What backends share; see `PlanMemo`. */
export interface BackendMemo {
  readonly hash: Hash;
  readonly bodies: Recent<Body>;
  readonly profiles: Recent<{ readonly name: string; readonly text: string; readonly facts: TextFacts }>;
  factsOf(text: string): TextFacts;
}

function guidOf(kind: 'be' | 'srv', name: string, hash: Hash): string {
  const guid = `${kind}:${name}`;
  return guid.length <= LONGEST_GUID ? guid : `${kind}:${hash(name)}`;
}

/** By name, each with a guid. */
function serversOf({ name, servers }: BackendPiece, hash: Hash): readonly Server[] {
  const identified = servers.map((server) =>
    server.guid === ''
      ? Object.freeze({ ...server, guid: guidOf('srv', `${name}:${server.name}`, hash) })
      : server,
  );
  return Object.freeze(identified.sort((a, b) => (a.name < b.name ? -1 : 1)));
}

/** Why a server cannot be added at run time; undefined where all can. */
function serverReason(servers: readonly Server[]): string | undefined {
  for (const { keywords } of servers) {
    const reason = whyNotAddable(keywords);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function check(piece: BackendPiece, { refusals }: Body, problems: Problems): void {
  const report = (message: string): void =>
    problems.add(piece.provenance, `backend "${piece.name}": ${message}`);
  if (!isProxyName(piece.name)) report('its name must match [A-Za-z0-9_.:-]+');
  if (!isProxyName(piece.from)) report(`"${piece.from}" is no name of a defaults section`);
  refusals.forEach(report);
  const names = new Set<string>();
  for (const server of piece.servers) {
    const fault = serverFault(server);
    if (fault !== undefined) report(fault);
    if (names.has(server.name)) report(`server "${server.name}" is there twice`);
    names.add(server.name);
  }
}

function sectionOf(
  kind: 'profile' | 'backend',
  name: string,
  facts: TextFacts,
  { secret, provenance }: BackendPiece,
): Section {
  return Object.freeze({ kind, name, ...facts, provenance, ...(secret && { secret }) });
}

/** The `defaults` section that all backends with this base, mode and body share. */
function buildProfile(piece: BackendPiece, body: string, memo: BackendMemo): BuiltProfile {
  const { from: base } = piece;
  const { name, text, facts } = memo.profiles.get(`${base}\n${body}`, () => {
    // Named by base and body: an equal profile has an equal name in every render, and another one never has.
    const name = `be-${memo.hash(`${base}\n${body}`).slice(0, 16)}`;
    const text = `defaults ${name} from ${base}\n${body}`;
    return { name, text, facts: memo.factsOf(text) };
  });
  return { section: sectionOf('profile', name, facts, piece), text, base };
}

/**
 * A backend with its profile. One that is `static` keeps its whole body: moving a part of it into a profile would change the order
 * of its rules.
 *
 * @param base Why what inherits from its base cannot be changed at run time, where it cannot.
 */
export function buildBackend(
  piece: BackendPiece,
  base: BaseHarm,
  memo: BackendMemo,
  problems: Problems,
): BuiltBackend {
  const body = memo.bodies.get(piece.body, () => readBody(piece.body));
  check(piece, body, problems);
  const servers = serversOf(piece, memo.hash);
  const shapeReason = body.ownReason ?? serverReason(servers) ?? base.backend;
  const serversReason = body.serversReason ?? base.servers;
  const directives = `    mode ${piece.mode}\n${body.text}`;
  const profile = shapeReason === undefined ? buildProfile(piece, directives, memo) : undefined;
  const from = profile?.section.name ?? piece.from;
  const guid = guidOf('be', piece.name, memo.hash);
  const head = `backend ${piece.name} from ${from}\n    guid ${guid}\n`;
  const own = head + (profile === undefined ? directives : '');
  const text = own + servers.map(serverLine).join('');
  const section = sectionOf('backend', piece.name, memo.factsOf(text), piece);
  const record: Backend = Object.freeze({
    profile: from,
    mode: piece.mode,
    guid,
    ...(shapeReason === undefined
      ? { shape: 'dynamic' }
      : { shape: 'static', shapeReason, directives: memo.factsOf(own).digest }),
    ...(serversReason !== undefined && { serversReason }),
    servers,
    digest: section.digest,
  });
  return { section, text, record, base, ...(profile && { profile }) };
}
