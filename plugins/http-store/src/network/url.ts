const LONGEST = 2_048;

/** A URL that could be fetched, in the one spelling that it is known by. @throws Error that says what was expected */
export function parseUrl(text: string): URL {
  if (text.length > LONGEST) throw new Error(`expected a URL of at most ${LONGEST} characters`);
  const url = URL.parse(text);
  // The text may hold a password or a token: it is not repeated.
  if (url === null) throw new Error('expected an absolute URL such as "https://example.com/list.txt"');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(`expected an http: or https: URL, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('expected a URL without user and password: templates are no place for them');
  }
  url.hash = '';
  return url;
}

/** For logs, messages and the health body: queries carry tokens. */
export function redacted(key: string | URL): string {
  const { origin, pathname, search } = new URL(key);
  return `${origin}${pathname}${search === '' ? '' : '?…'}`;
}
