import { appendFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { FollowedCredentials, readCredentials } from '@haptic/core/tls';
import { fakeClock, memoryLog, type FakeClock, type MemoryLog } from '@haptic/core/testing';
import { CertificateAuthority } from '../cluster/certificates.ts';
import { onCleanup } from '../haproxy/cleanup.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { AGENT, bundle, CONTROLLER, MountedSecret, tlsContents, type TlsContents } from './tls-secret.ts';

let old: CertificateAuthority;
let next: CertificateAuthority;
let contents: TlsContents;

beforeAll(async () => {
  old = await CertificateAuthority.create('old');
  next = await CertificateAuthority.create('new');
  contents = await tlsContents(old, AGENT);
});

interface Followed {
  readonly credentials: FollowedCredentials;
  readonly clock: FakeClock;
  readonly log: MemoryLog;
  /** How often something else was taken, and how often it was refused. */
  readonly counts: { taken: number; refused: number };
}

function follow(files: TlsContents): Followed {
  const [clock, log] = [fakeClock(), memoryLog()];
  const counts = { taken: 0, refused: 0 };
  const refused = (): void => void (counts.refused += 1);
  const credentials = new FollowedCredentials({ files, peerName: CONTROLLER, log, clock, refused });
  credentials.onChange(() => void (counts.taken += 1));
  onCleanup(() => credentials[Symbol.dispose]());
  return { credentials, clock, log, counts };
}

/** Files that are written in place. */
async function plainFiles(): Promise<TlsContents> {
  const dir = await tempDir();
  const files = { cert: join(dir, 'cert'), key: join(dir, 'key'), ca: join(dir, 'ca') };
  for (const [name, path] of Object.entries(files))
    await writeFile(path, contents[name as keyof TlsContents]);
  return files;
}

test('a mount that is turned over is taken within two looks', async () => {
  const secret = await MountedSecret.create(contents);
  const { credentials, clock, counts } = follow(secret.files);
  const before = credentials.current.fingerprints;
  await clock.advance(10_000);
  expect(counts).toEqual({ taken: 0, refused: 0 });
  await secret.put(await tlsContents(next, AGENT, { trusts: [old, next] }));
  await clock.advance(2_000);
  expect(counts).toEqual({ taken: 1, refused: 0 });
  expect(credentials.current.fingerprints.leaf).not.toBe(before.leaf);
  expect(credentials.current.fingerprints.authorities).toHaveLength(2);
});

test('half a bundle, which is a bundle too, is not taken while it is written', async () => {
  const files = await plainFiles();
  await writeFile(files.ca, bundle(old, next));
  const { credentials, clock, counts } = follow(files);
  const third = await CertificateAuthority.create('third');
  await writeFile(files.ca, bundle(old));
  await clock.advance(1_000);
  await appendFile(files.ca, bundle(next, third));
  await clock.advance(1_000);
  expect(counts).toEqual({ taken: 0, refused: 0 });
  await clock.advance(1_000);
  expect(counts).toEqual({ taken: 1, refused: 0 });
  expect(credentials.current.fingerprints.authorities).toHaveLength(3);
});

test('a key and a certificate that do not belong together for a moment are not even complained of', async () => {
  const files = await plainFiles();
  const { credentials, clock, log, counts } = follow(files);
  const { leaf } = credentials.current.fingerprints;
  const other = await tlsContents(old, AGENT);
  await writeFile(files.cert, other.cert);
  await clock.advance(1_000);
  await writeFile(files.key, other.key);
  await clock.advance(1_000);
  await clock.advance(1_000);
  expect(counts).toEqual({ taken: 1, refused: 0 });
  expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
  expect(credentials.current.fingerprints.leaf).not.toBe(leaf);
});

test('what stays broken is refused once, the last good stays, and what is whole again is taken', async () => {
  const files = await plainFiles();
  const { credentials, clock, log, counts } = follow(files);
  const { current } = credentials;
  await writeFile(files.key, 'nonsense');
  await clock.advance(60_000);
  await rm(files.cert);
  await clock.advance(60_000);
  expect(counts).toEqual({ taken: 0, refused: 2 });
  expect(credentials.current).toBe(current);
  expect(log.records.map(({ message }) => message)).toEqual(
    Array.from({ length: 2 }, () => 'the new certificates cannot be used, going on with the former ones'),
  );
  expect(JSON.stringify(log.records)).not.toContain('PRIVATE');
  await writeFile(`${files.cert}.new`, contents.cert);
  await rename(`${files.cert}.new`, files.cert);
  await writeFile(files.key, contents.key);
  await clock.advance(60_000);
  // The same as before: nothing to take.
  expect(counts).toEqual({ taken: 0, refused: 2 });
  await writeFile(files.key, 'nonsense');
  await clock.advance(60_000);
  expect(counts).toEqual({ taken: 0, refused: 3 });
});

test('other bytes of the same time are seen, and the same bytes of another time are no change', async () => {
  const files = await plainFiles();
  const { clock, counts } = follow(files);
  await writeFile(files.ca, contents.ca);
  await clock.advance(5_000);
  expect(counts.taken).toBe(0);
  const other = `${files.ca}.other`;
  await writeFile(other, bundle(next));
  await rm(files.ca);
  await symlink(other, files.ca);
  await clock.advance(2_000);
  expect(counts.taken).toBe(1);
});

test('nobody looks any more when it ends', async () => {
  const files = await plainFiles();
  const { credentials, clock, counts } = follow(files);
  credentials[Symbol.dispose]();
  await writeFile(files.ca, bundle(next));
  await clock.advance(60_000);
  expect(counts.taken).toBe(0);
  expect(clock.sleepers).toBe(0);
});

function problemsOf(change: Partial<TlsContents>): Promise<string> {
  return plainFiles().then(async (files) => {
    for (const [name, text] of Object.entries(change))
      await writeFile(files[name as keyof TlsContents], text);
    try {
      readCredentials(files, CONTROLLER);
    } catch (error) {
      if (error instanceof Refused) return error.message;
      throw error;
    }
    return '';
  });
}

test('everything that is wrong is said at once, with the file', async () => {
  expect(await problemsOf({})).toBe('');
  const all = await problemsOf({ cert: 'x', key: 'y', ca: 'z' });
  expect(all.split('\n')).toHaveLength(3);
  expect(all).toMatch(/cert: holds no certificate/);
  expect(all).toMatch(/key: holds no private key/);
  expect(all).toMatch(/ca: holds no certificate/);
});

test.each<[string, () => Promise<Partial<TlsContents>>, RegExp]>([
  ['a certificate cut short', async () => ({ cert: contents.cert.slice(0, 200) }), /holds no certificate/],
  [
    'a certificate with garbage inside',
    async () => ({ cert: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n' }),
    /certificate 1 of 1 cannot be read/,
  ],
  ['a bundle cut short', async () => ({ ca: contents.ca + contents.ca.slice(0, 99) }), /whole certificates/],
  ['a leaf for an authority', async () => ({ ca: contents.cert }), /no certificate of an authority/],
  ['the key of another', async () => ({ key: (await tlsContents(old, AGENT)).key }), /not the key of/],
  ["the other side's certificate", () => tlsContents(old, CONTROLLER), /the name of the other side/],
  ['a file of any length', async () => ({ ca: 'x'.repeat(2 * 1024 * 1024) }), /more than 1048576 bytes/],
])('%s is refused', async (_, change, words) => {
  expect(await problemsOf(await change())).toMatch(words);
});
