import type { TemplateHelper } from '../../contract/index.ts';
import { decodeBase64 } from '../runtime/pem.ts';
import { asNumber, asText } from './arguments.ts';

/** SHA-256 of a text's UTF-8, lower-case hex. */
export type Sha256 = (text: string) => string;

function encodeBase64(text: string): string {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function decode(text: string): string {
  try {
    return decodeBase64(text);
  } catch {
    throw new Error('not base64 of a UTF-8 text');
  }
}

function seconds(text: string): number {
  const milliseconds = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(milliseconds)) throw new Error('expected a date such as 2024-05-01T12:00:00Z');
  return Math.floor(milliseconds / 1000);
}

export function encodingHelpers(sha256: Sha256): readonly TemplateHelper[] {
  return [
    {
      name: 'b64encode',
      signature: 'b64encode(text) → text',
      doc: 'Base64 of the UTF-8 of a text.',
      minArgs: 1,
      maxArgs: 1,
      call: (text) => encodeBase64(asText(text)),
    },
    {
      name: 'b64decode',
      signature: 'b64decode(text) → text',
      doc: 'The UTF-8 text that base64 stands for; refuses anything else.',
      minArgs: 1,
      maxArgs: 1,
      call: (text) => decode(asText(text)),
    },
    {
      name: 'sha256',
      signature: 'sha256(text, length?) → text',
      doc: 'SHA-256 as lower-case hex, or its first `length` digits.',
      minArgs: 1,
      maxArgs: 2,
      call: (text, length) => sha256(asText(text)).slice(0, length === undefined ? 64 : asNumber(length)),
    },
    {
      name: 'seconds',
      signature: 'seconds(date) → number',
      doc: 'Seconds since 1970 of a date in data, such as a creationTimestamp.',
      minArgs: 1,
      maxArgs: 1,
      call: (text) => seconds(asText(text)),
    },
    {
      name: 'date',
      signature: 'date(seconds) → text',
      doc: 'The date (RFC 3339, UTC) of seconds since 1970.',
      minArgs: 1,
      maxArgs: 1,
      call: (value) => new Date(asNumber(value) * 1000).toISOString().replace('.000Z', 'Z'),
    },
  ];
}
