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
  const lines = linesOf(text);
  const fill = payloads(lines, bytes).map((payload) => ({ ...command(['add', 'map', at, map]), payload }));
  return [...fill, ...forgetful(map, lines[0]), command(['commit', 'map', at, map])];
}

/**
 * HAProxy remembers what a list did not match, and forgets it when an entry of the version before goes, not when another version
 * becomes the current one: what is asked of an empty map while it is filled would go on matching nothing. So there is an entry to
 * go: the first one, which decides whatever it matches then, too.
 */
function forgetful(map: string, line: string | undefined): Command[] {
  if (line === undefined) return [];
  const end = line.indexOf(' ');
  return [mapAdd(map, line.slice(0, end), line.slice(end + 1))];
}

function linesOf(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  // HAProxy would glue a line without a value to the next one, and keep blanks that it cuts in a file.
  const broken = lines.find((line) => !/^\S+ \S(?:.*\S)?$/.test(line));
  if (broken !== undefined)
    throw new OperationRefused(`the map line ${JSON.stringify(broken.slice(0, 200))} is no key with a value`);
  return lines;
}

/** Whole lines, as many as fit. */
function payloads(lines: readonly string[], bytes: number): string[] {
  const parts: string[] = [];
  let part = '';
  let size = 0;
  for (const line of lines) {
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
