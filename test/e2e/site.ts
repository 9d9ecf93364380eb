import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { origin, seenBy, type Origin } from '../haproxy/origin.ts';
import { request } from '../haproxy/raw-request.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { documents, endpoints, ingress, ingressClass, service } from './objects.ts';

/** A folder of resources that serves one host, and the origin behind it. */
export interface Site {
  readonly dir: string;
  readonly origin: Origin;
  readonly write: (name: string, text: string) => Promise<void>;
}

export const HOST = 'app.example';

/** `app.example` is served by the origin `app`, whose objects are in `app.yaml`. */
export async function site(): Promise<Site> {
  const dir = await tempDir();
  const app = await origin('app');
  const write = (name: string, text: string): Promise<void> => writeFile(join(dir, name), text);
  await write('class.yaml', ingressClass);
  await write('app.yaml', ingress('app', HOST, { '/': 'app' }));
  await write('backend.yaml', documents(service('app'), endpoints('app', app.port)));
  return { dir, origin: app, write };
}

/** As most editors save: a new file takes the old one's name. */
export async function renameIntoPlace(dir: string, name: string, text: string): Promise<void> {
  const staged = join(dir, `.${name}.tmp`);
  await writeFile(staged, text);
  await rename(staged, join(dir, name));
}

/** What answers a request: the name of an origin, or the status where it is no success. */
export async function answer(port: number, host: string = HOST, path = '/'): Promise<string | number> {
  const response = await request(port, { host, path });
  return response.status === 200 ? seenBy(response).origin : response.status;
}
