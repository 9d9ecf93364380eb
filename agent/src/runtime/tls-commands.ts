import type { CrtListLine } from '@haptic/core/contract';
import { command, OperationRefused, type Command } from './command.ts';

const COMMITTED = /^Success!$/;

/** What `set` and `commit` say of a file that the worker has not loaded. */
const NOT_LOADED =
  /^Can't replace an? .* (?:which|that) is not referenced by the configuration!|^No ongoing transaction! !/;

/** The same, content with a worker that has not loaded the file. */
export function whereLoaded(commands: readonly Command[]): Command[] {
  return commands.map((command) => ({ ...command, nothingThere: NOT_LOADED }));
}

export function newCertificate(path: string): Command {
  return command(['new', 'ssl', 'cert', path], /^New empty certificate store '.*'!$/);
}

export function setCertificate(path: string, pem: string): Command[] {
  const set = command(['set', 'ssl', 'cert', path], /^Transaction (?:created|updated) for certificate .*!$/);
  return [{ ...set, payload: ended(pem) }, command(['commit', 'ssl', 'cert', path], COMMITTED)];
}

export function deleteCertificate(path: string): Command {
  return command(['del', 'ssl', 'cert', path], /^Certificate '.*' deleted!$/);
}

export function newCaFile(path: string): Command {
  return command(['new', 'ssl', 'ca-file', path], /^New CA file created '.*'!$/);
}

export function setCaFile(path: string, pem: string): Command[] {
  const set = command(['set', 'ssl', 'ca-file', path], /^transaction (?:created|updated) for CA .*!$/i);
  return [{ ...set, payload: ended(pem) }, command(['commit', 'ssl', 'ca-file', path], COMMITTED)];
}

export function deleteCaFile(path: string): Command {
  return command(['del', 'ssl', 'ca-file', path], /^CA file '.*' deleted!$/);
}

export function addCrtLine(list: string, { certificate, options, sni }: CrtListLine): Command {
  const group = options === '' ? [] : [`[${options}]`];
  const line = [certificate, ...group, ...sni].join(' ');
  return { ...command(['add', 'ssl', 'crt-list', list], COMMITTED), payload: `${line}\n` };
}

export function showCrtList(list: string): Command {
  return command(['show', 'ssl', 'crt-list', '-n', list]);
}

export function deleteCrtLine(list: string, line: CrtListLine, shown: string): Command {
  const entry = `${line.certificate}:${lineNumber(line, shown)}`;
  return command(['del', 'ssl', 'crt-list', list, entry], /^Entry '.*' deleted in crtlist '.*'!$/);
}

/** Which of the shown lines it is: `certs/a.pem:3 [alpn h2] a.test`. HAProxy may word options in its own way, filters not. */
function lineNumber({ certificate, options, sni }: CrtListLine, shown: string): string {
  const found = shown.split('\n').flatMap((row) => {
    // Old versions end the options with a NUL.
    const match = /^(.*):(\d+)(?: \[(.*?)\])?(?: (.*))?$/.exec(row.replaceAll('\0', ''));
    if (match === null || match[1] !== certificate || sorted(match[4] ?? '') !== sorted(sni.join(' ')))
      return [];
    return [{ number: match[2]!, options: match[3] ?? '' }];
  });
  const same = found.filter((entry) => entry.options === options);
  const [entry] = same.length > 0 ? same : found;
  if (entry !== undefined && (same.length === 1 || found.length === 1)) return entry.number;
  throw new OperationRefused(
    `${found.length} lines of the crt-list may be that of ${certificate} ${sni.join(' ')}`,
  );
}

function sorted(filters: string): string {
  return filters.split(' ').toSorted().join(' ');
}

function ended(pem: string): string {
  return pem.endsWith('\n') ? pem : `${pem}\n`;
}
