import { MAIN_CONFIG, type Backend, type FileEntry, type Rendered, type Section } from '../contract/index.ts';
import { planId } from './assemble.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { frozenRecord } from '../values/frozen-record.ts';
import type { PlanMemo } from './memo.ts';
import { stampSection } from './stamp.ts';

/** A section with its text. */
interface Piece {
  readonly section: Section;
  readonly bytes: Uint8Array;
}

const encoder = new TextEncoder();

function* piecesOf({ plan, files }: Rendered): Iterable<Piece> {
  const text = files.read(MAIN_CONFIG);
  let at = 0;
  for (const section of plan.sections) {
    yield { section, bytes: text.subarray(at, at + section.length) };
    at += section.length;
  }
}

/** Whether every server of `next` is like one of those before, or speaks of no file: there may be others in that set. */
function areUsual(next: Backend, before: Backend): boolean {
  const usual = new Set(before.servers.map(({ keywords }) => keywords.join(' ')));
  return next.servers.every(
    ({ keywords }) =>
      usual.has(keywords.join(' ')) || (usual.size === 0 && !keywords.some((word) => word.includes('/'))),
  );
}

/** Whether nothing but the servers of the backend is other than before, and they can change at run time. */
function differsInServers(next: Backend | undefined, before: Backend | undefined): boolean {
  if (next === undefined || before === undefined || next.servers === before.servers) return false;
  const rest = ({ profile, mode, guid, shape, directives, spareFor }: Backend): string =>
    canonicalJson({ profile, mode, guid, shape, directives, spareFor });
  const isFixed = next.serversReason !== undefined || before.serversReason !== undefined;
  const isMoved = canonicalJson(next.servers) !== canonicalJson(before.servers);
  return !isFixed && isMoved && rest(next) === rest(before) && areUsual(next, before);
}

function own(backends: Readonly<Record<string, Backend>>, name: string): Backend | undefined {
  return Object.hasOwn(backends, name) ? backends[name] : undefined;
}

function joined(pieces: readonly Piece[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { bytes }) => sum + bytes.byteLength, 0));
  let at = 0;
  for (const { bytes } of pieces) {
    whole.set(bytes, at);
    at += bytes.byteLength;
  }
  return whole;
}

/**
 * What was rendered before, with the endpoints of the next render in those backends that are otherwise the same: what a pod may
 * get while it must not load the next one. Undefined where there are none.
 */
export function withEndpoints(before: Rendered, next: Rendered, memo: PlanMemo): Rendered | undefined {
  const { plan } = before;
  const names = new Set(
    Object.keys(plan.backends).filter((name) =>
      differsInServers(own(next.plan.backends, name), plan.backends[name]),
    ),
  );
  if (names.size === 0) return undefined;
  const isMoved = ({ section: { kind, name } }: Piece): boolean => kind === 'backend' && names.has(name);
  const moved = new Map([...piecesOf(next)].filter(isMoved).map((piece) => [piece.section.name, piece]));
  const [, ...rest] = [...piecesOf(before)].map((piece) =>
    isMoved(piece) ? (moved.get(piece.section.name) ?? piece) : piece,
  );
  const textId = memo.sectionDigests.digest(rest.map(({ section }) => section));
  const stamp = stampSection(textId);
  const pieces = [{ section: stamp.section, bytes: encoder.encode(stamp.text) }, ...rest];
  const bytes = joined(pieces);
  const files = plan.files.map((entry): FileEntry =>
    entry.path === MAIN_CONFIG
      ? Object.freeze({ ...entry, digest: memo.hash(bytes), size: bytes.byteLength })
      : entry,
  );
  const id = planId(textId, files, plan.binds, memo);
  const { k8sResources, statuses, events } = plan;
  const backends = Object.entries(plan.backends).map(([name, backend]): [string, Backend] => [
    name,
    names.has(name) ? next.plan.backends[name]! : backend,
  ]);
  return Object.freeze({
    plan: Object.freeze({
      ...plan,
      id,
      releaseId: memo.hash(canonicalJson({ id, k8sResources, statuses, events })),
      textId,
      sections: Object.freeze(pieces.map(({ section }) => section)),
      backends: frozenRecord(backends),
      files: Object.freeze(files),
    }),
    files: Object.freeze({
      entries: files,
      read: (path: string) => (path === MAIN_CONFIG ? bytes : before.files.read(path)),
    }),
    // No judge sees it.
    locate: () => undefined,
  });
}
