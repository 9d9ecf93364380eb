import { mkdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '../haproxy/temp-dir.ts';
import type { CertificateAuthority } from '../cluster/certificates.ts';

export const CONTROLLER = 'haptic-controller';
export const AGENT = 'haptic-agent';

/** What the three files of one side hold. */
export interface TlsContents {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A Secret as Kubernetes mounts it: files are links into `..data`, a link that is turned over by a rename. */
export class MountedSecret {
  readonly dir: string;
  #version = 0;

  private constructor(dir: string) {
    this.dir = dir;
  }

  static async create(contents: TlsContents): Promise<MountedSecret> {
    const secret = new MountedSecret(await tempDir());
    await secret.put(contents);
    for (const name of Object.keys(secret.files)) await symlink(join('..data', name), join(secret.dir, name));
    return secret;
  }

  get files(): TlsContents {
    const { dir } = this;
    return { cert: join(dir, 'cert'), key: join(dir, 'key'), ca: join(dir, 'ca') };
  }

  /** All at once. */
  async put(contents: Partial<TlsContents>): Promise<void> {
    this.#version += 1;
    const folder = `..v${this.#version}`;
    const data = join(this.dir, '..data');
    const before = await readlink(data).catch(() => undefined);
    await mkdir(join(this.dir, folder));
    for (const [name, text] of Object.entries(contents)) await writeFile(join(this.dir, folder, name), text);
    await symlink(folder, `${data}_tmp`);
    await rename(`${data}_tmp`, data);
    if (before !== undefined) await rm(join(this.dir, before), { recursive: true });
  }
}

/** A certificate of this authority, and which authorities its side trusts: its own where none are given. */
export async function tlsContents(
  issuer: CertificateAuthority,
  name: string,
  { trusts = [issuer], notAfter }: { trusts?: readonly CertificateAuthority[]; notAfter?: Date } = {},
): Promise<TlsContents> {
  const { cert, key } = await issuer.issue({ commonName: 'x', names: [name], ...(notAfter && { notAfter }) });
  return { cert, key, ca: bundle(...trusts) };
}

export function bundle(...authorities: readonly CertificateAuthority[]): string {
  return authorities.map(({ pair }) => `${pair.cert.trim()}\n`).join('');
}
