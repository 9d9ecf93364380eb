import { configObject, libraryObject } from '../e2e/installation.ts';

/** Of the Lease, a fifth of the real one: who stands still for longer has lost it. */
export const leaseMs = 3_000;
const leaderElection = { leaseDuration: '3s', renewDeadline: '2s', retryPeriod: '400ms' };

/** Both libraries of a set number every answer; an answer with two numbers is of a torn set. */
export const markHeaders = ['x-set-a', 'x-set-b'] as const;

function marker(namespace: string, letter: 'a' | 'b', number: number, template: string): object & Named {
  const base = libraryObject(namespace, 'base');
  const name = `set-${letter}`;
  return {
    ...base,
    metadata: { ...base.metadata, name },
    spec: { revision: `${name}-${number}`, templateSnippets: { [`frontend-before-${name}`]: { template } } },
  };
}

type Named = ReturnType<typeof libraryObject>;

/** The objects of one configuration: two libraries that belong together, and the config that names them at their revisions. */
export function configSet(
  namespace: string,
  {
    number,
    settings,
    broken = false,
  }: { readonly number: number; readonly settings: object; readonly broken?: boolean },
): readonly object[] {
  const header = (name: string): string => `http-after-response set-header ${name} ${number}\n`;
  const own = [
    marker(namespace, 'a', number, header(markHeaders[0])),
    marker(namespace, 'b', number, broken ? '{% if %}' : header(markHeaders[1])),
  ];
  const libraries = [libraryObject(namespace, 'base'), libraryObject(namespace, 'ingress'), ...own];
  return [...own, configObject(namespace, libraries, { settings, leaderElection })];
}
