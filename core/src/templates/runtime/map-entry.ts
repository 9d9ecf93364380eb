import type { MapContent } from '../../contract/index.ts';
import { isIp } from '../names/ip.ts';
import { characters, holdsOnly } from './characters.ts';

/** Lines that fill HAProxy's buffer are split, and the rest becomes an entry of its own. */
const LONGEST_LINE = 16_000;

const visible = characters(/[!-~]/);
const badInKey = /[\0-\x20\x7f]/;
const badInValue = /[\0-\x1f\x7f]/;
const integer = /^-?\d{1,15}$/;

function keyRefusal(key: string): string | undefined {
  if (key === '') return 'the key is empty';
  if (key.startsWith('#')) return 'the key begins with "#", which makes its line a comment';
  if (holdsOnly(key, visible)) return undefined;
  if (badInKey.test(key)) return 'the key holds a blank or a control character';
  return key.isWellFormed() ? undefined : 'the key holds half a surrogate pair';
}

function valueRefusal(value: string): string | undefined {
  if (value === '') return 'the value is empty';
  if (holdsOnly(value, visible)) return undefined;
  if (badInValue.test(value)) return 'the value holds a control character';
  if (value.startsWith(' ') || value.endsWith(' '))
    return 'the value begins or ends with a blank, which HAProxy cuts';
  return value.isWellFormed() ? undefined : 'the value holds half a surrogate pair';
}

function typeRefusal(type: MapContent['value'], value: string): string | undefined {
  if (type === 'int' && !integer.test(value)) return 'the value is no integer, as the map says';
  if (type === 'ip' && !isIp(value)) return 'the value is no IP address, as the map says';
  return undefined;
}

function byteLength(text: string): number {
  let bytes = 0;
  for (const char of text) {
    const code = char.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Why the entry cannot stand in a map file as one line that means what it says; undefined when it can. */
export function mapEntryRefusal(
  map: Pick<MapContent, 'value'>,
  key: string,
  value: string,
): string | undefined {
  const why = keyRefusal(key) ?? valueRefusal(value) ?? typeRefusal(map.value, value);
  if (why !== undefined) return why;
  const length = key.length + value.length + 1;
  // At most three bytes a UTF-16 unit.
  if (length * 3 <= LONGEST_LINE || byteLength(key) + byteLength(value) + 1 <= LONGEST_LINE) return undefined;
  return `the entry is longer than ${LONGEST_LINE} bytes, more than HAProxy reads as one line`;
}
