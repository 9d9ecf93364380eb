import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface HeaderOrQuery {
  readonly name: string;
  readonly match: 'exact' | 'regex';
  readonly value: string;
}

/** A rule as data: the form of routing-cases.json and of random rule sets. */
export interface Rule {
  readonly listener: 'ingress' | 'gateway';
  /** Null: every host. `*.x` is a wildcard of the kind that `wildcard` says. */
  readonly host: string | null;
  readonly wildcard?: 'one-label' | 'suffix';
  readonly path?: { readonly type: 'exact' | 'prefix' | 'regex'; readonly value: string };
  readonly conditions?: {
    readonly method?: string;
    readonly headers?: readonly HeaderOrQuery[];
    readonly query?: readonly HeaderOrQuery[];
  };
  readonly backend?: string;
  readonly targets?: readonly {
    readonly backend?: string;
    readonly status?: number;
    readonly weight: number;
  }[];
  readonly status?: number;
  readonly namespace?: string;
  readonly age?: number;
  readonly name?: string;
  readonly order: number;
}

export interface Case {
  readonly area: string;
  readonly listener: 'ingress' | 'gateway';
  readonly method: string;
  readonly host: string | null;
  readonly path: string;
  readonly headers?: readonly (readonly [string, string])[];
  readonly raw?: string;
  readonly want: string | number;
  readonly accept?: readonly (string | number)[];
  readonly note?: string;
}

const file = join(import.meta.dirname, '../data/routing-cases.json');

export const caseTable = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly rules: readonly Rule[];
  readonly cases: readonly Case[];
};

export function requestBytes({
  method,
  path,
  host,
  headers = [],
  raw,
}: Omit<Case, 'area' | 'listener' | 'want'>): string {
  if (raw !== undefined) return raw;
  const fields = [...(host === null ? [] : [['Host', host]]), ['Connection', 'close'], ...headers];
  return `${method} ${path} HTTP/1.1\r\n${fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}
