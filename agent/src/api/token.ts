import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { Refused } from '@haptic/core/contract';

/** Where the bearer token comes from. A file is read at each use, so that it can be rotated. */
export type TokenSource = { readonly file: string } | { readonly value: string };

const SHORTEST = 16;

/** @throws Refused for a file that cannot be read again and again: a pipe would stop the agent until somebody writes. */
export function checkSource(source: TokenSource): void {
  if (!('file' in source) || statSync(source.file, { throwIfNoEntry: false })?.isFile() !== false) return;
  throw new Refused([{ where: source.file, message: 'is no regular file, expected one with the token' }]);
}

/** @throws Refused when there is no token worth the name: nothing is ever served without one. */
export function readToken(source: TokenSource): string {
  const where = 'file' in source ? source.file : 'token';
  const token = ('file' in source ? readTokenFile(source.file) : source.value).trim();
  if (token.length >= SHORTEST) return token;
  throw new Refused([
    { where, message: `the token has ${token.length} characters, expected at least ${SHORTEST}` },
  ]);
}

function readTokenFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Refused([{ where: path, message: `cannot read the token: ${(error as Error).message}` }]);
  }
}

/** Takes the same time whatever is wrong with it. */
export function authorized(header: string | undefined, source: TokenSource): boolean {
  const expected = `Bearer ${readToken(source)}`;
  return timingSafeEqual(sha256(header ?? ''), sha256(expected));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
