import { describe, expect, test } from 'vitest';
import { renderTemplates, type TemplateSet } from '../testing/templates.ts';
import { RenderError } from './errors.ts';

const SECRET = 'hunter2 S3cret-value';
const data = { line: btoa(SECRET) };
const fixtures = { secrets: [{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, data }] };

async function refusal(set: TemplateSet): Promise<RenderError> {
  const error: unknown = await Promise.resolve(renderTemplates({ fixtures, ...set })).catch(
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RenderError);
  return error as RenderError;
}

const line = 'b64decode(resources.secrets.list()[0].data.line)';
const encoded = 'resources.secrets.list()[0].data.line';

describe('what a Secret says is not in a message', () => {
  test.each([
    ['as a word', `{{ ${line} | word }} x`],
    ['as a part of a word', `{% set part = ${line}.split(" ")[1] + "!" %}{{ part | word }} x`],
    ['as it is encoded', `x {{ (${encoded} + "%") | word }}`],
    ['as an argument of a helper', `{% set n = number(${line}) %}`],
    ['in the words of the template itself', `{% do fail("cannot use " + ${line}) %}`],
  ])('%s', async (_, body) => {
    const { message, cause, problems } = await refusal({ body });
    for (const shown of [message, JSON.stringify(problems), String((cause as Error | undefined)?.message)])
      for (const part of [SECRET, 'S3cret-value', data.line]) expect(shown).not.toContain(part);
    expect(message).toMatch(/^haproxyConfig:2:\d+: /);
  });

  test('whatever became of it, in a part that is marked secret', async () => {
    const main = `{% section "users", [], {secret: true} %}\n{{ "${SECRET}".toUpperCase() | word }} x\n{% endsection %}`;
    const { message } = await refusal({ main });
    expect(message).toContain('is "[secret]", expected a word');
    expect(message.split('\n')[0]).not.toContain(SECRET.toUpperCase());
  });

  test('or of an entry of a secret map', async () => {
    const maps = { auth: { secret: true, value: 'int' } } as const;
    const { message } = await refusal({
      maps,
      main: `{% entry "auth", "key", ${line} %}{% section "x" %}\nx\n{% endsection %}`,
    });
    expect(message).toContain('map "auth", an entry: the value is no integer');
  });
});

test('other values are shown, once the secret part has ended', async () => {
  const main = `{% section "users", [], {secret: true} %}\nx\n{% endsection %}{% section "x" %}\n{{ "not a word" | word }}\n{% endsection %}`;
  expect((await refusal({ main })).message).toContain('is "not a word", expected a word');
});
