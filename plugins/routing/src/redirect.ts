import { parseHost } from './host.ts';
import { canonicalPath, pathProblem } from './path.ts';
import type { PathPattern, Redirect } from './route.ts';

/** What is wrong with a redirect, or undefined. */
export function redirectProblem({ host, port, path }: Redirect, rule: PathPattern): string | undefined {
  if (host !== undefined && parseHost(host, 'suffix')?.kind !== 'exact') return 'it redirects to no DNS name';
  if (port !== undefined && (!Number.isInteger(port) || port < 1 || port > 65_535))
    return `${port} is no port`;
  if (path?.kind === 'prefix' && rule.kind !== 'prefix') return 'only a prefix rule can replace its prefix';
  return path && pathProblem(path.value);
}

/**
 * `code|scheme|host|port|mode|length|path` for `redirects.map`, empty where the request's own stays; the port with its colon,
 * the path without what can be no part of a location.
 */
export function redirectText({ code, scheme, host, port, path }: Redirect, rule: PathPattern): string {
  const replaced = path === undefined ? '' : canonicalPath(path.value).replaceAll('|', '%7C');
  // A prefix takes the place of the matched one without its slash, which the rest of the path brings along.
  const prefix = path?.kind === 'prefix';
  const length = prefix ? canonicalPath(rule.value).replace(/\/$/, '').length : '';
  return [
    code,
    scheme ?? '',
    host?.toLowerCase() ?? '',
    port === undefined ? '' : `:${port}`,
    path?.kind ?? '',
    length,
    prefix ? replaced.replace(/\/$/, '') : replaced,
  ].join('|');
}
