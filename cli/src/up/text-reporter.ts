import { describeRef, type QuarantinedObject } from '@haptic/core/contract';
import { describeVerdict } from '../describe-verdict.ts';
import type { ServedRoute } from '@haptic/routing';
import type { Terminal } from '../terminal.ts';
import type { AppliedChange, RefusedChange, Reporter } from './reporter.ts';

/** Width of the word that a line begins with. */
const COLUMN = 8;

/** What others see of an object that is held. */
const INSTEAD: Readonly<Record<QuarantinedObject['instead'], string>> = {
  accepted: 'it is served as it was before',
  unavailable: 'its routes answer 503',
  nothing: 'nothing of it is served',
};

const RELEASES = { mended: 'which is mended', deleted: 'which is gone' } as const;

const MOST_ROUTES = 20;
const MOST_CHANGES = 3;

/** For people. */
export function textReporter(terminal: Terminal): Reporter {
  const { out, style } = terminal;
  return {
    starting: () => out('starting the controller, an agent and HAProxy …'),
    serving({ url, haproxyVersion, routes }) {
      out(`${style('good', 'serving')} ${style('strong', url)} with HAProxy ${haproxyVersion}`);
      for (const line of routeLines(routes)) out(line);
      for (const line of hints(url, routes)) out(line);
    },
    // Why a pod did not take a change is in the log.
    applied: (change) => (tookIt(change) ? out(appliedLine(change, terminal)) : undefined),
    refused: (change) => refusedLines(change, terminal).forEach((line) => out(line)),
    held: (held) => heldLines(held, terminal).forEach((line) => out(line)),
    released: ({ object, because }) =>
      out(`${style('good', 'released'.padEnd(COLUMN))} ${describeRef(object)}, ${RELEASES[because]}`),
    stopping: () => out('stopping …'),
  };
}

function routeLines(routes: readonly ServedRoute[]): string[] {
  if (routes.length === 0) return ['  no routes yet: add an Ingress to the folder of resources'];
  const shown = routes
    .slice(0, MOST_ROUTES)
    .map(({ host, path, to, from }) => [`${host}${path}`, to, from] as const);
  const width = (column: 0 | 1): number => Math.max(...shown.map((row) => row[column].length));
  const lines = shown.map(
    ([where, to, from]) => `  ${where.padEnd(width(0))}  → ${to.padEnd(width(1))}  ${from}`,
  );
  return routes.length > MOST_ROUTES ? [...lines, `  … and ${routes.length - MOST_ROUTES} more`] : lines;
}

function hints(url: string, routes: readonly ServedRoute[]): string[] {
  const first = routes.find(({ host }) => host.endsWith('.localhost')) ?? routes[0];
  if (first === undefined) return [];
  const { port } = new URL(url);
  const path = first.path.replace(/^~ .*|\*$/, '');
  const curl = first.host.endsWith('.localhost')
    ? `curl http://${first.host}:${port}${path}`
    : `curl -H 'Host: ${first.host}' ${url}${path}`;
  return [`try:  ${curl}`, 'Edit the files and watch the changes arrive. Ctrl-C stops everything.'];
}

function whatChanged({ changes }: Pick<AppliedChange, 'changes'>): string {
  const shown = changes.slice(0, MOST_CHANGES).join(', ');
  const more = changes.length > MOST_CHANGES ? ` and ${changes.length - MOST_CHANGES} more` : '';
  return changes.length === 0 ? 'configuration' : `${shown}${more}`;
}

function appliedLine(change: AppliedChange, { style }: Terminal): string {
  const took = style('quiet', `in ${Math.round(change.durationMs)} ms`);
  return `${style('good', change.outcome.result.padEnd(COLUMN))} ${whatChanged(change)} ${took}`;
}

/** What is taken back, and why: who is to blame is held next. */
function refusedLines(change: RefusedChange, { style }: Terminal): string[] {
  const { findings } = change;
  return [
    `${style('bad', 'refused'.padEnd(COLUMN))} ${whatChanged(change)}: taken back to what HAProxy accepted before`,
    ...describeVerdict({ kind: 'refused', findings }, style).flatMap(indented),
  ];
}

function indented(text: string): string[] {
  return text.split('\n').map((line) => `${' '.repeat(COLUMN)} ${line}`);
}

/** Who is held, what is served meanwhile, and why in the words of whoever refuses it. */
function heldLines({ object, instead, reason }: QuarantinedObject, { style }: Terminal): string[] {
  return [
    `${style('bad', 'held'.padEnd(COLUMN))} ${describeRef(object)} until it is mended: ${INSTEAD[instead]}`,
    ...indented(reason),
  ];
}

function tookIt({ outcome }: AppliedChange): boolean {
  return outcome.result !== 'rejected' && outcome.result !== 'unreachable';
}
