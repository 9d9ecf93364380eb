import { errorFields } from './error-fields.ts';
import { redactText } from '../../contract/redact-text.ts';

/** Ends of field names whose values are secret, in any spelling: `bearerToken`, `x-api-key`, `Set-Cookie`. */
const SECRET_NAME =
  /(token|password|passwd|passphrase|secret|authorization|cookie|credentials?|apikey|privatekey|accesskey|tlskey)$/;
const DEEPEST = 12;
const LONGEST_LIST = 200;
const LONGEST_TEXT = 64 * 1024;

/**
 * A copy for logs and listings: plain JSON data without Secret data, tokens, passwords and PEM. pino's own `redact` knows fixed
 * paths only, and secrets reach a log inside objects and messages of any form.
 */
export function redact(value: unknown): unknown {
  return copy(value, []);
}

function copy(value: unknown, parents: readonly object[]): unknown {
  if (typeof value === 'string') return redactText(shorten(value));
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value);
  if (typeof value === 'function') return '[function]';
  return typeof value === 'object' && value !== null ? copyObject(value, parents) : value;
}

function copyObject(value: object, parents: readonly object[]): unknown {
  if (parents.includes(value)) return '[circular]';
  if (parents.length >= DEEPEST) return '[too deep]';
  const inside = [...parents, value];
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) return copyList(value, inside);
  if (value instanceof Error) return copyFields(Object.entries(errorFields(value)), inside);
  if (value instanceof Map) {
    return copyFields(
      Array.from(value, ([key, item]): [string, unknown] => [String(key), item]),
      inside,
    );
  }
  if (value instanceof Set) return copyList([...value], inside);
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copy(
      attempt(() => (value.toJSON as () => unknown)()),
      inside,
    );
  }
  if (isSecret(value)) return copySecret(value, inside);
  return copyFields(entriesOf(value), inside);
}

function copyList(list: readonly unknown[], parents: readonly object[]): unknown[] {
  const items = list.slice(0, LONGEST_LIST).map((item) => copy(item, parents));
  if (list.length > LONGEST_LIST) items.push(`[${list.length - LONGEST_LIST} more]`);
  return items;
}

function copyFields(fields: readonly (readonly [string, unknown])[], parents: readonly object[]): object {
  return Object.fromEntries(
    fields.map(([name, value]) => [name, holdsSecret(name, value) ? '[redacted]' : copy(value, parents)]),
  );
}

/** A flag or a number under such a name tells nothing: `secret: true` marks a file whose content is never shown. */
function holdsSecret(name: string, value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number')
    return false;
  return SECRET_NAME.test(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}

function isSecret(value: object): boolean {
  return 'kind' in value && (value.kind === 'Secret' || value.kind === 'SecretList');
}

/** Identity only: the data, and the annotation in which kubectl keeps a copy of it, are among the rest. */
function copySecret(value: object, parents: readonly object[]): object {
  const { apiVersion, kind, metadata, namespace, name } = value as Record<string, unknown>;
  const identity = { apiVersion, kind, ...identityOf(metadata), ...identityOf({ namespace, name }) };
  return { ...copyFields(Object.entries(identity), parents), data: '[redacted]' };
}

function identityOf(metadata: unknown): object {
  if (typeof metadata !== 'object' || metadata === null) return {};
  const { namespace, name } = metadata as Record<string, unknown>;
  return { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
}

function entriesOf(value: object): [string, unknown][] {
  return Object.keys(value).map((key) => [key, attempt(() => (value as Record<string, unknown>)[key])]);
}

/** A log line must not fail on what it logs. */
function attempt(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return '[unreadable]';
  }
}

/** Cut before it is searched: a log line must not cost time without bound. */
function shorten(text: string): string {
  if (text.length <= LONGEST_TEXT) return text;
  return `${text.slice(0, LONGEST_TEXT)}… (${text.length} characters)`;
}
