import type { Backend, Provenance, Section, Server } from '../contract/index.ts';
import type { BackendPiece } from '../templates/output.ts';
import { judgeDirective } from './backend-directives.ts';
import type { Hash, TextDigests } from './hash.ts';
import type { Problems } from './problems.ts';
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
  readonly baseFault: string | undefined;
}

/** What HAProxy takes as a guid at most. */
const LONGEST_GUID = 127;

interface Tools {
  readonly hash: Hash;
  readonly texts: TextDigests;
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

/** Directives only: neither indentation nor comments may make two bodies differ. */
function directives(body: string): readonly string[] {
  return body
    .split('\n')
    .map((line) => line.trimStart())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Why the backend can not be changed at run time; undefined where it can. */
function staticReason(lines: readonly string[], servers: readonly Server[]): string | undefined {
  const consistent = lines.some((line) => /^hash-type\s+consistent(\s|$)/.test(line));
  for (const line of lines) {
    const verdict = judgeDirective(line, consistent);
    if (verdict.kind === 'own') return verdict.reason;
  }
  for (const { keywords } of servers) {
    const reason = whyNotAddable(keywords);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

function check(piece: BackendPiece, lines: readonly string[], problems: Problems): void {
  const report = (message: string): void =>
    problems.add(piece.provenance, `backend "${piece.name}": ${message}`);
  if (!isProxyName(piece.name)) report('its name must match [A-Za-z0-9_.:-]+');
  if (!isProxyName(piece.from)) report(`"${piece.from}" is no name of a defaults section`);
  for (const line of lines) {
    const verdict = judgeDirective(line, false);
    if (verdict.kind === 'refused') report(verdict.reason);
  }
  const names = new Set<string>();
  for (const server of piece.servers) {
    const fault = serverFault(server);
    if (fault !== undefined) report(fault);
    if (names.has(server.name)) report(`server "${server.name}" is there twice`);
    names.add(server.name);
  }
}

function build(
  kind: 'profile' | 'backend',
  name: string,
  text: string,
  piece: BackendPiece,
  texts: TextDigests,
): BuiltSection {
  const secret = piece.secret ? { secret: true } : {};
  const provenance: Provenance = piece.provenance;
  return { section: Object.freeze({ kind, name, ...texts.of(text), provenance, ...secret }), text };
}

/** The `defaults` section that all backends with this base, mode and body share. */
function buildProfile(piece: BackendPiece, lines: readonly string[], { hash, texts }: Tools): BuiltProfile {
  const body = [`    mode ${piece.mode}\n`, ...lines.map((line) => `    ${line}\n`)].join('');
  // Named by base and body: an equal profile has an equal name in every render, and another one never has.
  const name = `be-${hash(`${piece.from}\n${body}`).slice(0, 16)}`;
  return {
    ...build('profile', name, `defaults ${name} from ${piece.from}\n${body}`, piece, texts),
    base: piece.from,
  };
}

/**
 * A backend with its profile. One that is `static` keeps its whole body: moving a part of it into a profile would change the order
 * of its rules.
 *
 * @param baseFault Why nothing that inherits from its base can be changed at run time, if so.
 */
export function buildBackend(
  piece: BackendPiece,
  baseFault: string | undefined,
  tools: Tools,
  problems: Problems,
): BuiltBackend {
  const lines = directives(piece.body);
  check(piece, lines, problems);
  const servers = serversOf(piece, tools.hash);
  const shapeReason = staticReason(lines, servers) ?? baseFault;
  const profile = shapeReason === undefined ? buildProfile(piece, lines, tools) : undefined;
  const guid = guidOf('be', piece.name, tools.hash);
  const from = profile?.section.name ?? piece.from;
  const own =
    profile === undefined ? [`    mode ${piece.mode}\n`, ...lines.map((line) => `    ${line}\n`)] : [];
  const text = [
    `backend ${piece.name} from ${from}\n`,
    `    guid ${guid}\n`,
    ...own,
    ...servers.map(serverLine),
  ].join('');
  const built = build('backend', piece.name, text, piece, tools.texts);
  const record: Backend = Object.freeze({
    profile: from,
    mode: piece.mode,
    guid,
    ...(shapeReason === undefined ? { shape: 'dynamic' } : { shape: 'static', shapeReason }),
    servers,
    digest: built.section.digest,
  });
  return { ...built, record, baseFault, ...(profile && { profile }) };
}
