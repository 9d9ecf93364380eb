import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { Refused, type Problem } from '../contract/errors.ts';

/** Paths of PEM files; often links into a mounted Secret. */
export interface CredentialFiles {
  /** The certificate, followed by those between it and its authority. */
  readonly cert: string;
  readonly key: string;
  /** Whose certificates the other side may have: a bundle, with two authorities while one follows the other. */
  readonly ca?: string | undefined;
}

/** What a side of a TLS connection shows, and whom it trusts. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
  readonly ca: string | undefined;
  readonly leaf: X509Certificate;
  /** SHA-256 in lower-case hex: of the leaf and of the authorities, these in order. */
  readonly fingerprints: { readonly leaf: string; readonly authorities: readonly string[] };
}

/** The bytes of the files; an error where they cannot be had. */
export interface CredentialTexts {
  readonly cert: string | Error;
  readonly key: string | Error;
  readonly ca: string | Error | undefined;
}

const LONGEST = 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export function readCredentialTexts({ cert, key, ca }: CredentialFiles): CredentialTexts {
  return { cert: readText(cert), key: readText(key), ca: ca === undefined ? undefined : readText(ca) };
}

function readText(path: string): string | Error {
  try {
    const facts = statSync(path);
    if (!facts.isFile()) throw new Error('it is no file');
    if (facts.size > LONGEST) throw new Error(`it has more than ${LONGEST} bytes`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    return error as Error;
  }
}

/** @throws Refused with everything that is wrong; see `parseCredentials`. */
export function readCredentials(files: CredentialFiles, peerName?: string): Credentials {
  return parseCredentials(files, readCredentialTexts(files), peerName);
}

/** Equal for equal contents. */
export function digestOfTexts({ cert, key, ca }: CredentialTexts): string {
  const words = [cert, key, ca].map((text) => (text instanceof Error ? ['error', text.message] : [text]));
  return createHash('sha256').update(JSON.stringify(words)).digest('hex');
}

/**
 * Takes the texts for what they should be, and proves that a connection can be made with them. `peerName` is what the other
 * side's certificates are told by: one that carries it as well would let this side speak as the other.
 *
 * @throws Refused with everything that is wrong.
 */
export function parseCredentials(
  files: CredentialFiles,
  texts: CredentialTexts,
  peerName?: string,
): Credentials {
  const problems: Problem[] = [];
  const note = (where: string, message: string): void => void problems.push({ where, message });
  const [leaf] = certificates(files.cert, texts.cert, note);
  const authorities = files.ca === undefined ? [] : certificates(files.ca, texts.ca, note);
  for (const { ca, subject } of authorities) {
    if (!ca) note(files.ca!, `${inOneLine(subject)} is no certificate of an authority (CA:TRUE)`);
  }
  const key = privateKey(files.key, texts.key, note);
  if (leaf !== undefined && key !== undefined && !leaf.checkPrivateKey(key))
    note(files.key, `is not the key of the certificate in ${files.cert}`);
  if (leaf !== undefined && peerName !== undefined && hasName(leaf, peerName))
    note(files.cert, `the certificate is for "${peerName}", the name of the other side`);
  if (problems.length === 0) tryOut(files, texts, note);
  if (problems.length > 0 || leaf === undefined) throw new Refused(problems);
  const { cert, key: keyText, ca } = texts as { cert: string; key: string; ca: string | undefined };
  const fingerprints = { leaf: fingerprintOf(leaf), authorities: authorities.map(fingerprintOf).toSorted() };
  return { cert, key: keyText, ca, leaf, fingerprints };
}

type Note = (where: string, message: string) => void;

function certificates(path: string, text: string | Error | undefined, note: Note): X509Certificate[] {
  if (text === undefined || text instanceof Error) {
    note(path, `cannot read the certificates: ${text?.message ?? ''}`);
    return [];
  }
  const blocks = text.match(CERTIFICATE) ?? [];
  const begun = text.split('-----BEGIN ').length - 1;
  if (blocks.length === 0) note(path, 'holds no certificate, expected PEM: -----BEGIN CERTIFICATE-----');
  else if (begun !== blocks.length) note(path, 'holds something else than whole certificates');
  return blocks.flatMap((block, index) => {
    try {
      return [new X509Certificate(block)];
    } catch {
      note(path, `certificate ${index + 1} of ${blocks.length} cannot be read as one`);
      return [];
    }
  });
}

function privateKey(
  path: string,
  text: string | Error,
  note: Note,
): ReturnType<typeof createPrivateKey> | undefined {
  if (text instanceof Error) {
    note(path, `cannot read the key: ${text.message}`);
    return undefined;
  }
  try {
    return createPrivateKey(text);
  } catch {
    note(path, 'holds no private key, expected PEM without a passphrase');
    return undefined;
  }
}

/** OpenSSL has rules of its own, on the size of keys for example. */
function tryOut(files: CredentialFiles, texts: CredentialTexts, note: Note): void {
  try {
    const { cert, key, ca } = texts as { cert: string; key: string; ca: string | undefined };
    createSecureContext({ cert, key, ca, minVersion: 'TLSv1.3' });
  } catch (error) {
    note(files.cert, `cannot be used: ${(error as Error).message}`);
  }
}

/** Only as one of the DNS names of the certificate: never as its common name, never by a wildcard. */
export function hasName(certificate: X509Certificate, name: string): boolean {
  return certificate.checkHost(name, { subject: 'never', wildcards: false }) !== undefined;
}

function fingerprintOf(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}

export function sameAuthorities(a: Credentials, b: Credentials): boolean {
  return a === b || a.fingerprints.authorities.join() === b.fingerprints.authorities.join();
}

function inOneLine(subject: string): string {
  return subject.replaceAll('\n', ', ');
}
