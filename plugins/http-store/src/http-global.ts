import { ContentMissing, type ContentReader, type TemplateGlobal } from '@haptic/core/contract';
import { parseFetchOptions } from './fetch-options.ts';
import { parseUrl, redacted } from './network/url.ts';

function fetcher(contents: ContentReader, maxUrls: number): (...args: readonly unknown[]) => unknown {
  const asked = new Set<string>();
  return (...args) => {
    const [address, options] = args;
    if (args.length < 1 || args.length > 2) throw new Error('expected fetch(url, options?)');
    if (typeof address !== 'string') throw new Error('expected a URL as text');
    const url = parseUrl(address);
    const { how, fallback } = parseFetchOptions(options);
    if (asked.add(url.href).size > maxUrls) {
      throw new Error(`templates ask for more than ${maxUrls} URLs (\`maxUrls\` of the plugin http-store)`);
    }
    const text = contents.read(url.href, how);
    if (text === undefined && how.critical) {
      throw new ContentMissing(`${redacted(url)} is critical, and no content of it was accepted yet`);
    }
    return text ?? fallback;
  };
}

/** What templates see as `http`. */
export function httpGlobal(maxUrls: number): TemplateGlobal {
  return {
    name: 'http',
    doc: 'Contents of URLs, kept up to date; a render sees what was accepted last.',
    members: [
      {
        name: 'fetch',
        doc: 'fetch(url, {interval, timeout, maxSize, default, critical}?) → text, or the default, while nothing was accepted',
      },
    ],
    build: ({ contents }) => Object.freeze({ fetch: fetcher(contents, maxUrls) }),
  };
}
