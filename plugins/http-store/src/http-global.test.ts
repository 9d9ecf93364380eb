import { describe, expect, it } from 'vitest';
import { problemsOf, renderBody, renderTemplates } from '@haptic/core/testing';
import { httpGlobal } from './http-global.ts';

const globals = [httpGlobal(3)];
const list = 'https://example.com/list';
const contents = new Map([[list, 'a b']]);

async function problem(expression: string): Promise<string | undefined> {
  return (await problemsOf({ body: `x {{ ${expression} }}`, globals }))[0];
}

describe('http.fetch', () => {
  it.each([
    [`http.fetch("${list}")`, 'a\\ b'],
    ['http.fetch("HTTPS://EXAMPLE.com:443/x/../list#top")', 'a\\ b'],
    [`http.fetch("${list}", {default: "none"})`, 'a\\ b'],
    [`http.fetch("${list}", {critical: true})`, 'a\\ b'],
    ['http.fetch("https://example.com/other", {default: "none"})', 'none'],
    ['http.fetch("https://example.com/other") ?? "nothing"', 'nothing'],
  ])('%s is %s', async (expression, text) => {
    expect(await renderBody(`x {{ ${expression} }}`, { globals, contents })).toBe(`x ${text}\n`);
  });

  it('asks with all that the fetch depends on', async () => {
    const body = `x {{ http.fetch("${list}", {interval: "1h", timeout: "500ms", maxSize: 10, default: "x"}) }}`;
    const { requests } = await renderTemplates({ body, globals });
    expect(requests).toEqual([
      {
        key: list,
        options: { intervalMs: 3_600_000, timeoutMs: 500, maxSize: 10, critical: false },
        place: 'haproxyConfig:2:6',
      },
    ]);
  });

  it.each([
    ['http.fetch()', 'expected fetch(url, options?)'],
    ['http.fetch("https://a/", {}, 1)', 'expected fetch(url, options?)'],
    ['http.fetch(1)', 'expected a URL as text'],
    ['http.fetch("/list")', 'expected an absolute URL'],
    ['http.fetch("file:///etc/passwd")', 'expected an http: or https: URL'],
    ['http.fetch("https://u:p@a/")', 'without user and password'],
    ['http.fetch("https://a/", {intervall: "1m"})', 'unknown option "intervall", did you mean "interval"?'],
    ['http.fetch("https://a/", {interval: "1s"})', 'interval: expected a duration from "10s" to "24h"'],
    ['http.fetch("https://a/", {interval: 60})', 'interval: expected a duration such as'],
    ['http.fetch("https://a/", {timeout: "2m"})', 'timeout: expected a duration from "100ms" to "60s"'],
    ['http.fetch("https://a/", {maxSize: 2000000})', 'maxSize: expected a whole number from 1 to 1048576'],
    ['http.fetch("https://a/", {default: 1})', 'default: expected text'],
    ['http.fetch("https://a/", {critical: "yes"})', 'critical: expected true or false'],
    ['http.fetch("https://a/", "5m")', 'expected options such as {interval: "5m"}'],
    ['http.fetch("https://a/", {critical: true, default: ""})', 'expected "critical" or "default", not both'],
    ['http.fetch("https://a/")', 'undefined'],
  ])('%s is refused: %s', async (expression, message) => {
    expect(await problem(expression)).toContain(message);
  });

  it('waits for what is critical, and keeps its query to itself', async () => {
    const body = 'x {{ http.fetch("https://a/?token=x", {critical: true}) }}';
    await expect(renderTemplates({ body, globals })).rejects.toThrow(
      'https://a/?… is critical, and no content of it was accepted yet',
    );
  });

  it('has the same options for one URL everywhere, and names both places where not', async () => {
    const body = `x {{ http.fetch("${list}") }}\ny {{ http.fetch("${list}", {interval: "1h"}) }}`;
    const [problem] = await problemsOf({ body, globals, contents });
    expect(problem).toMatch(/^haproxyConfig:3:6 .*3600000.*300000.* at haproxyConfig:2:6/);
    const same = `x {{ http.fetch("${list}") }}\ny {{ http.fetch("${list}", {interval: "5m", default: "x"}) }}`;
    expect(await problemsOf({ body: same, globals, contents })).toEqual([]);
  });

  it('knows so many URLs in a render, and no more', async () => {
    const body =
      '{% for n in [1, 2, 1, 3, 4] %}\nx {{ http.fetch("https://a/" + (n | text), {default: "d"}) }}\n{% endfor %}';
    expect(await problemsOf({ body, globals })).toEqual([expect.stringContaining('more than 3 URLs')]);
  });
});
