import type { MapOperation } from '@haptic/core/contract';
import { command, OperationRefused, type Command } from './command.ts';

export function mapAdd(map: string, key: string, value: string): Command {
  return command(['add', 'map', map, key, value]);
}

export function mapSet(map: string, key: string, value: string): Command {
  return command(['set', 'map', map, key, value]);
}

export function mapDel(map: string, key: string): Command {
  return command(['del', 'map', map, key]);
}

export function prepareMap({ map }: Extract<MapOperation, { op: 'map.replace' }>): Command {
  return command(['prepare', 'map', map]);
}

export function preparedVersion(reply: string): string {
  const version = /^New version created: (\d+)$/.exec(reply)?.[1];
  if (version === undefined) throw new OperationRefused(`\`prepare map\`: ${reply}`);
  return version;
}

/** Fills the prepared version with the lines of the map's file, in their order, and makes it the current one. */
export function fillMap(map: string, version: string, text: string, bytes: number): Command[] {
  const at = `@${version}`;
  const fill = payloads(text, bytes).map((payload) => ({ ...command(['add', 'map', at, map]), payload }));
  return [...fill, command(['commit', 'map', at, map])];
}

/** Whole lines, as many as fit. */
function payloads(text: string, bytes: number): string[] {
  const parts: string[] = [];
  let part = '';
  let size = 0;
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    // HAProxy would glue a line without a value to the next one, and keep blanks that it cuts in a file.
    if (!/^\S+ \S(?:.*\S)?$/.test(line))
      throw new OperationRefused(`the map line ${JSON.stringify(line.slice(0, 200))} is no key with a value`);
    const length = Buffer.byteLength(line) + 1;
    if (size + length > bytes && part !== '') {
      parts.push(part);
      part = '';
      size = 0;
    }
    part += `${line}\n`;
    size += length;
  }
  return part === '' ? parts : [...parts, part];
}
