import { CertificateAuthority } from '../cluster/certificates.ts';

/** A certificate with its key, as HAProxy reads it. */
export async function pemFor(...names: readonly string[]): Promise<string> {
  const authority = await CertificateAuthority.create('test');
  const { cert, key } = await authority.issue({ commonName: names[0] ?? 'test', names });
  return [cert, key].map((text) => `${text.trim()}\n`).join('');
}

/** What verifies others. */
export async function authorityPem(name: string): Promise<string> {
  const { pair } = await CertificateAuthority.create(name);
  return `${pair.cert.trim()}\n`;
}
