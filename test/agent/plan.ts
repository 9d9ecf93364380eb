import { createHash } from 'node:crypto';
import type { ApplyFile, ApplyMessage } from '@haptic/agent/protocol';

/** A file set that a test sends, by path. */
export type Files = Readonly<Record<string, string>>;

export interface Site {
  readonly port: number;
  readonly workerSocket: string;
  /** What every request is answered. */
  readonly text: string;
  /** Goes into the frontend as it is. */
  readonly extra?: string;
}

/** A small configuration with the stamp that the agent compares. */
export function siteConfig({ port, workerSocket, text, extra = '' }: Site): string {
  const body = `
defaults
    mode http
    timeout connect 2s
    timeout client 10s
    timeout server 10s
    timeout http-keep-alive 1s
    option idle-close-on-response
frontend site
    bind 127.0.0.1:${port}
    ${extra}
    http-request return status 200 content-type text/plain lf-string "${text} %[str(key),map(maps/site.map,none)]"
`;
  const globals = `global
    stats socket ${workerSocket} mode 600 level admin
    hard-stop-after 5s
    setenv HAPTIC_TEXT ${sha256(body)}
`;
  return globals + body;
}

export function siteFiles(site: Site, mapValue = 'one'): Files {
  return { 'haproxy.cfg': siteConfig(site), 'maps/site.map': `key ${mapValue}\n` };
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function planIdOf(files: Files): string {
  return sha256(JSON.stringify(Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1))));
}

const kinds: Readonly<Record<string, string>> = { maps: 'map', certs: 'certificate' };

/** An apply of these files, everything sent along; `change` overrides fields. */
export function applyOf(files: Files, change: Partial<ApplyMessage> = {}): ApplyMessage {
  const planId = planIdOf(files);
  return {
    planId,
    textId: /^ {4}setenv HAPTIC_TEXT (\S+)$/m.exec(files['haproxy.cfg'] ?? '')?.[1] ?? '',
    token: { epoch: 1, seq: 1 },
    expect: null,
    mode: 'reload',
    files: Object.entries(files).map(([path, content]) => fileOf(path, content)),

    ...change,
  };
}

export function fileOf(path: string, content: string): ApplyFile {
  return {
    path,
    digest: sha256(content),
    size: Buffer.byteLength(content),
    kind: path === 'haproxy.cfg' ? 'config' : (kinds[path.split('/')[0] ?? ''] ?? 'file'),
    reloadOnChange: true,
    content: Buffer.from(content).toString('base64'),
  };
}
