import { CertificateAuthority, type KeyPair } from '../cluster/certificates.ts';

/** A certificate with its key, as HAProxy reads it. */
export async function pemFor(...names: readonly string[]): Promise<string> {
  const authority = await CertificateAuthority.create('test');
  const { cert, key } = await authority.issue({ commonName: names[0] ?? 'test', names });
  return [cert, key].map((text) => `${text.trim()}\n`).join('');
}

/** What verifies others. */
export async function authorityPem(name: string): Promise<string> {
  return (await authorityOf(name)).pem;
}

/** What verifies others, and one whom it vouches for. */
export async function authorityOf(name: string): Promise<{ readonly pem: string; readonly client: KeyPair }> {
  const authority = await CertificateAuthority.create(name);
  const client = await authority.issue({ commonName: `client of ${name}` });
  return { pem: `${authority.pair.cert.trim()}\n`, client };
}
