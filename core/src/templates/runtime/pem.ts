import { SiteError } from './site-error.ts';
import { kindOf } from './values.ts';

const badInPem = /[^\n -~]/;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Text from base64. @throws Error for what is none */
export function decodeBase64(text: string): string {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  // A callback for each byte would cost a cold start with thousands of certificates a third of a second.
  for (let index = 0; index < bytes.length; index++) bytes[index] = binary.charCodeAt(index);
  return utf8.decode(bytes);
}

/** What is wrong with a text as the content of a PEM file; undefined when nothing is. */
export function pemRefusal(pem: string): string | undefined {
  if (badInPem.test(pem)) return 'holds a character that no PEM file holds';
  return pem.includes('-----BEGIN ') ? undefined : 'holds no "-----BEGIN …-----"';
}

function part(data: Record<string, unknown>, key: string, site: number): string {
  const value = data[key];
  if (typeof value !== 'string') throw new SiteError(site, `the Secret has no "${key}"`);
  let pem: string;
  try {
    pem = decodeBase64(value);
  } catch {
    throw new SiteError(site, `"${key}" of the Secret is not base64 of a text`);
  }
  pem = pem.replaceAll('\r\n', '\n');
  const why = pemRefusal(pem);
  if (why !== undefined) throw new SiteError(site, `"${key}" of the Secret ${why}`);
  return pem.endsWith('\n') ? pem : `${pem}\n`;
}

/** The PEM text of a `kubernetes.io/tls` Secret, or the text itself. @throws SiteError */
export function certificatePem(value: unknown, site: number): string {
  if (typeof value === 'string') {
    const why = pemRefusal(value);
    if (why !== undefined) throw new SiteError(site, `the certificate ${why}`);
    return value.endsWith('\n') ? value : `${value}\n`;
  }
  const data =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)['data'] : undefined;
  if (typeof data !== 'object' || data === null) {
    throw new SiteError(
      site,
      `a certificate is a Secret with "tls.crt" and "tls.key", or PEM text, not ${kindOf(value)}`,
    );
  }
  const parts = data as Record<string, unknown>;
  return part(parts, 'tls.crt', site) + part(parts, 'tls.key', site);
}
