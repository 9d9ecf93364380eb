import { describe, expect, it } from 'vitest';
import { ContentMissing, type TemplateGlobal } from '../contract/index.ts';
import { problemsOf, renderBody, renderTemplates } from '../testing/index.ts';
import { RenderAwaitsContent, RenderError } from './errors.ts';

/** A global that reads contents, as a plugin would have it. */
const outside: TemplateGlobal = {
  name: 'outside',
  doc: 'contents',
  members: [{ name: 'read', doc: 'read(key, every?) → text' }],
  build: ({ contents }) => ({
    read: (key: string, every = 1) => contents.read(key, { every }),
  }),
};
const globals = [outside];

describe('contents', () => {
  it('are what the input of the render holds', async () => {
    const contents = new Map([['a', 'one two']]);
    expect(await renderBody('x {{ outside.read("a") }}', { globals, contents })).toBe('x one\\ two\n');
  });

  it('are undefined while there are none', async () => {
    expect(await renderBody('x {{ outside.read("a") ?? "none" }}', { globals })).toBe('x none\n');
  });

  it('are recorded where they are asked for, each once', async () => {
    const body =
      '{% set a = outside.read("a") %}\n{% for n in [1, 2] %}\nx {{ outside.read("b", 2) ?? n }}\n{% endfor %}';
    const { requests } = await renderTemplates({ body, globals });
    expect(requests).toEqual([
      { key: 'a', options: { every: 1 }, place: 'haproxyConfig:2:12' },
      { key: 'b', options: { every: 2 }, place: 'haproxyConfig:4:6' },
    ]);
  });

  it('are recorded with an error that ends the render', async () => {
    const body = 'x {{ outside.read("a") ?? 1 }}\ny {{ outside.read("b") }}';
    const error: unknown = await renderTemplates({ body, globals }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RenderError);
    expect((error as RenderError).requests.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('that must be there are waited for', async () => {
    const impatient: TemplateGlobal = {
      ...outside,
      build: ({ contents }) => ({
        read(key: string) {
          contents.read(key, {});
          throw new ContentMissing(`no ${key}`);
        },
      }),
    };
    const render = renderTemplates({ body: 'x {{ outside.read("a") }}', globals: [impatient] });
    const error: unknown = await render.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RenderAwaitsContent);
    expect((error as Error).message).toMatch(/^haproxyConfig:2:6: .*no a\n  x \{\{/);
    expect((error as RenderAwaitsContent).requests.map(({ key }) => key)).toEqual(['a']);
  });

  it('refuse two opinions on one key, and name both places', async () => {
    const body = 'x {{ outside.read("a") ?? 1 }}\ny {{ outside.read("a", 2) ?? 1 }}';
    const [problem] = await problemsOf({ body, globals });
    expect(problem).toMatch(/^haproxyConfig:3:6 .*\{"every":2\}, but \{"every":1\} at haproxyConfig:2:6/);
  });

  it('keep out of a memo, which would not ask again', async () => {
    const body = '{% set k = "a" %}\n{% memo k %}\nx {{ outside.read(k) ?? 1 }}\n{% endmemo %}';
    expect(await problemsOf({ body, globals })).toEqual([
      expect.stringContaining('the memo reads "outside"'),
    ]);
  });
});
