import { filePath } from '../contract/index.ts';
import type { CrtLineDeclaration } from '../templates/output.ts';

/** crt-lists know no quotes and no escapes; brackets are special anywhere (and can hang the parser). */
const FILTER = /^!?[A-Za-z0-9_.*/-]+$/;
const OPTIONS = /^[^[\]\0-\x1f\x7f]*$/;

/** Longer lines are fatal to HAProxy. */
const LONGEST_LINE = 65_000;

/** Why a crt-list can not hold the line; undefined where it can. */
export function crtLineFault({ options, sni, certificate }: CrtLineDeclaration): string | undefined {
  const filter = sni.find((name) => !FILTER.test(name));
  if (filter !== undefined)
    return `SNI filter ${JSON.stringify(filter.slice(0, 200))} must match ${FILTER.source}`;
  if (!OPTIONS.test(options)) return 'its options hold a bracket or a control character';
  const length = certificate.length + options.length + sni.reduce((sum, name) => sum + name.length + 1, 0);
  return length > LONGEST_LINE ? `it is longer than ${LONGEST_LINE} bytes` : undefined;
}

/** Only for a line without fault. */
export function crtLine({ certificate, options, sni }: CrtLineDeclaration): string {
  const group = options.trim() === '' ? [] : [`[${options.trim()}]`];
  return `${[filePath('certificate', certificate), ...group, ...sni].join(' ')}\n`;
}
