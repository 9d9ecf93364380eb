import { OPERATION_NAMES, type Operation } from '@haptic/core/contract';
import { digestOf } from '../files/tree.ts';
import { pathProblem, setProblems } from '../files/path-rules.ts';
import type { WantedSet } from './wanted-set.ts';
import { operationSchema, type ApplyFile, type ApplyRequest, type Op } from '../protocol/index.ts';

const KNOWN_KINDS: ReadonlySet<string> = new Set(['config', 'map', 'crt-list', 'certificate', 'ca', 'file']);
const KNOWN_MODES: ReadonlySet<string> = new Set(['auto', 'reload', 'revert_lkg']);
const KNOWN_OPS: ReadonlySet<string> = new Set(OPERATION_NAMES);

/** Fields of operations that name files. */
const PLACES: ReadonlySet<string> = new Set(['map', 'path', 'list']);

/** A request whose message is whole, with its contents decoded. */
export interface Incoming {
  readonly request: ApplyRequest;
  /** By digest. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Parts of the plan, by digest. */
  readonly chunks: ReadonlyMap<string, Uint8Array>;
  readonly ops: readonly Operation[];
  readonly inPlaceOps: readonly Operation[];
  /** What this agent does not know. */
  readonly skew: readonly string[];
}

/** The same with all that it takes to make the files. */
export interface CompleteIncoming extends Incoming {
  readonly set: WantedSet;
}

/** Decodes the contents; or everything that is structurally wrong with the message. */
export function readIncoming(request: ApplyRequest): Incoming | { readonly problems: readonly string[] } {
  if (request.mode === 'revert_lkg')
    return { request, contents: new Map(), chunks: new Map(), ops: [], inPlaceOps: [], skew: [] };
  const paths = request.files.map(({ path }) => path);
  const problems = setProblems(paths).map(({ index, message }) => `files.${index}.path: ${message}`);
  const contents = readContents(request.files, problems);
  const chunks = readChunks(request, problems);
  const ops = readOperations('ops', request.ops, problems);
  const inPlaceOps = readOperations('inPlaceOps', request.inPlaceOps, problems);
  return problems.length > 0
    ? { problems }
    : { request, contents, chunks, ops, inPlaceOps, skew: skewOf(request) };
}

/** By digest. */
function readContents(files: readonly ApplyFile[], problems: string[]): Map<string, Uint8Array> {
  const contents = new Map<string, Uint8Array>();
  const sent = files.flatMap((file, index) => sentContent(file, index));
  // In one piece: many small ones leave holes in the memory of a process that lives for months.
  const memory = Buffer.allocUnsafeSlow(sent.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const { place, field, text, encoding, length, digest: expected, size } of sent) {
    const bytes = memory.subarray(at, at + memory.write(text, at, length, encoding));
    at += length;
    const digest = digestOf(bytes);
    if (digest !== expected) problems.push(`${place}.${field}: has digest ${digest}, expected ${expected}`);
    else if (length !== size) problems.push(`${place}.size: ${size}, but the content has ${length} bytes`);
    else contents.set(digest, bytes);
  }
  return contents;
}

function sentContent({ text, content, digest, size }: ApplyFile, index: number) {
  const [field, encoding] = text === undefined ? ['content', 'base64' as const] : ['text', 'utf8' as const];
  const sent = text ?? content;
  if (sent === undefined) return [];
  const length = Buffer.byteLength(sent, encoding);
  return [{ place: `files.${index}`, field, text: sent, encoding, length, digest, size }];
}

function readChunks({ plan }: ApplyRequest, problems: string[]): Map<string, Uint8Array> {
  const chunks = new Map<string, Uint8Array>();
  for (const [digest, content] of Object.entries(plan.data)) {
    const bytes = Buffer.from(content, 'base64');
    const actual = digestOf(bytes);
    if (actual === digest) chunks.set(digest, bytes);
    else problems.push(`plan.data.${digest}: has digest ${actual}`);
  }
  return chunks;
}

/** Those that are known. A known one in another shape is a broken message. */
function readOperations(field: string, given: readonly Op[], problems: string[]): Operation[] {
  const read: Operation[] = [];
  for (const [index, op] of given.entries()) {
    if (!KNOWN_OPS.has(op.op)) continue;
    const parsed = operationSchema.safeParse(op);
    if (parsed.success) {
      read.push(parsed.data);
      problems.push(...placeProblems(parsed.data).map((words) => `${field}.${index}.${words}`));
    } else {
      for (const { path, message } of parsed.error.issues)
        problems.push(`${[field, index, ...path].join('.')}: ${message}`);
    }
  }
  return read;
}

/** What an operation is about is a file of the tree, too, and may be read from there. */
function placeProblems(operation: Operation): string[] {
  return Object.entries(operation).flatMap(([field, place]) => {
    if (!PLACES.has(field)) return [];
    const message = pathProblem(String(place));
    return message === undefined ? [] : [`${field}: ${JSON.stringify(place)} ${message}`];
  });
}

function skewOf(request: ApplyRequest): string[] {
  const names = [
    ...(KNOWN_MODES.has(request.mode) ? [] : [`mode ${request.mode}`]),
    ...[...request.ops, ...request.inPlaceOps]
      .filter(({ op }) => !KNOWN_OPS.has(op))
      .map(({ op }) => `op ${op}`),
    ...request.files.filter(({ kind }) => !KNOWN_KINDS.has(kind)).map(({ kind }) => `file kind ${kind}`),
  ];
  return [...new Set(names)].slice(0, 100);
}
