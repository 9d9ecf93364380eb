import type { MapContent } from '../contract/index.ts';
import { isIp, isIpOrNetwork } from './ip-address.ts';

/** HAProxy splits longer lines of a map and takes the rest for an entry of its own; `tune.bufsize` is 16,384. */
const LONGEST_LINE = 16_000;

function keyFault(key: string): string | undefined {
  if (key === '') return 'its key is empty';
  if (/[\0-\x20\x7f]/.test(key)) return 'its key holds a blank or a control character';
  return key.startsWith('#') ? 'its key begins with "#", which makes the line a comment' : undefined;
}

function valueFault(value: string): string | undefined {
  if (value === '') return 'its value is empty';
  if (/[\0-\x1f\x7f]/.test(value)) return 'its value holds a control character';
  return value.startsWith(' ') || value.endsWith(' ') ? 'its value begins or ends with a blank' : undefined;
}

function typeFault(key: string, value: string, map: Pick<MapContent, 'match' | 'value'>): string | undefined {
  if (map.match === 'ip' && !isIpOrNetwork(key)) return 'its key must be an IP address or network';
  if (map.value === 'int' && !/^-?\d{1,18}$/.test(value)) return 'its value must be an integer';
  return map.value === 'ip' && !isIp(value) ? 'its value must be an IP address' : undefined;
}

/** At most, without encoding: a code unit is at most three bytes. */
function isTooLong(key: string, value: string): boolean {
  const units = key.length + 1 + value.length;
  if (units * 3 <= LONGEST_LINE) return false;
  return units > LONGEST_LINE || new TextEncoder().encode(`${key} ${value}`).length > LONGEST_LINE;
}

/** Why a line of a map can not say this; undefined where it can. */
export function entryFault(
  key: string,
  value: string,
  map: Pick<MapContent, 'match' | 'value'>,
): string | undefined {
  const fault = keyFault(key) ?? valueFault(value) ?? typeFault(key, value, map);
  if (fault !== undefined) return fault;
  if (!key.isWellFormed() || !value.isWellFormed()) return 'it holds a lone surrogate';
  return isTooLong(key, value) ? `it is longer than ${LONGEST_LINE} bytes` : undefined;
}
