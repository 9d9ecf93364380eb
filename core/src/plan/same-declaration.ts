import type { ObjectRef, Provenance, Server } from '../contract/index.ts';
import type { BackendPiece, EntryDeclaration, Piece, SectionPiece } from '../templates/output.ts';

/** Templates without a memo declare everything anew in each render; what says the same as before need not be built again. */

function sameItems<T>(a: readonly T[], b: readonly T[], same: (a: T, b: T) => boolean): boolean {
  return a === b || (a.length === b.length && a.every((item, index) => same(item, b[index]!)));
}

function sameObject(a: ObjectRef, b: ObjectRef): boolean {
  if (a === b) return true;
  const same = a.name === b.name && a.namespace === b.namespace && a.kind === b.kind;
  return same && a.apiVersion === b.apiVersion && a.uid === b.uid;
}

function sameProvenance(a: Provenance, b: Provenance): boolean {
  if (a === b) return true;
  const samePlace = a.line === b.line && a.snippet === b.snippet && a.source === b.source;
  return samePlace && sameItems(a.objects, b.objects, sameObject);
}

/** Servers that did not change are the identical objects; whoever hands out copies pays for it. */
function sameServer(a: Server, b: Server): boolean {
  return a === b;
}

function sameSectionPiece(a: SectionPiece, b: SectionPiece): boolean {
  if (a === b) return true;
  return a.text === b.text && a.secret === b.secret && sameProvenance(a.provenance, b.provenance);
}

/** One after the other, in any file. */
export function samePiece(a: Piece, b: Piece): boolean {
  if (a === b || a.kind === 'profiles' || b.kind === 'profiles') return a.kind === b.kind;
  if (a.name !== b.name) return false;
  if (a.kind === 'section') return b.kind === 'section' && sameSectionPiece(a, b);
  return b.kind === 'backend' && sameBackendPiece(a, b);
}

function sameBackendPiece(a: BackendPiece, b: BackendPiece): boolean {
  if (a === b) return true;
  const same = a.body === b.body && a.from === b.from && a.mode === b.mode && a.secret === b.secret;
  return same && sameItems(a.servers, b.servers, sameServer) && sameProvenance(a.provenance, b.provenance);
}

export function sameEntry(a: EntryDeclaration, b: EntryDeclaration): boolean {
  if (a === b) return true;
  return a.key === b.key && a.value === b.value && sameProvenance(a.provenance, b.provenance);
}

export function sameEntries(a: readonly EntryDeclaration[], b: readonly EntryDeclaration[]): boolean {
  return sameItems(a, b, sameEntry);
}
