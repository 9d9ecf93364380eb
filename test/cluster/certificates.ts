import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { randomBytes, webcrypto } from 'node:crypto';

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 86_400_000;

/** Certificate and key as PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface Subject {
  readonly commonName: string;
  /** Groups of a user, for an API server. */
  readonly organizations?: readonly string[];
  /** Addresses and names of a server. */
  readonly ips?: readonly string[];
  readonly names?: readonly string[];
  /** A month from now where it is left out. */
  readonly notAfter?: Date;
}

x509.cryptoProvider.set(webcrypto);

/** Signs the certificates of one cluster. */
export class CertificateAuthority {
  readonly pair: KeyPair;
  readonly #key: webcrypto.CryptoKey;

  private constructor(pair: KeyPair, key: webcrypto.CryptoKey) {
    this.pair = pair;
    this.#key = key;
  }

  static async create(name: string): Promise<CertificateAuthority> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: `CN=${name}`,
      keys,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(
          x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature,
          true,
        ),
      ],
    });
    const pair = { cert: certificate.toString('pem'), key: await privatePem(keys.privateKey) };
    return new CertificateAuthority(pair, keys.privateKey);
  }

  static async load(pair: KeyPair): Promise<CertificateAuthority> {
    const [der] = x509.PemConverter.decode(pair.key);
    const key = await webcrypto.subtle.importKey('pkcs8', der ?? new ArrayBuffer(0), algorithm, true, [
      'sign',
    ]);
    return new CertificateAuthority(pair, key);
  }

  async issue(subject: Subject): Promise<KeyPair> {
    const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const { server, client } = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' };
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(subject.notAfter),
      subject: [
        { CN: [subject.commonName] },
        ...(subject.organizations ?? []).map((name) => ({ O: [name] })),
      ],
      issuer: new x509.X509Certificate(this.pair.cert).subject,
      publicKey: keys.publicKey,
      signingKey: this.#key,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([server, client]),
        new x509.SubjectAlternativeNameExtension([
          ...(subject.names ?? []).map((value) => ({ type: 'dns' as const, value })),
          ...(subject.ips ?? []).map((value) => ({ type: 'ip' as const, value })),
        ]),
      ],
    });
    return { cert: certificate.toString('pem'), key: await privatePem(keys.privateKey) };
  }
}

/** From yesterday on: clocks of a suspended machine may lag. */
function validity(notAfter = new Date(Date.now() + 30 * DAY)) {
  return {
    serialNumber: randomBytes(8).toString('hex'),
    notBefore: new Date(Math.min(Date.now(), notAfter.getTime()) - DAY),
    notAfter,
  };
}

async function privatePem(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}
