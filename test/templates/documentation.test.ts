import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { problemsOf, renderTemplates, type TemplateSet } from '@haptic/core/testing';
import { templatesPage, withNames } from '../../tools/template-names.ts';

const page = await readFile(templatesPage, 'utf8');

interface Block {
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...page.matchAll(/^```(.*)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
  language: language!,
  text: text!,
}));

const settings = {
  title: '50% "off" #1',
  paths: ['/shop', '/a b'],
  directive: 'timeout',
  routes: [{ name: 'a', path: '/a' }],
};

function setOf({ language, text }: Block): TemplateSet {
  return language.includes('main') ? { main: text, settings } : { body: text.trimEnd(), settings };
}

const templates = blocks.flatMap((block, i) =>
  block.language.startsWith('jinja') ? [[block.text, block, blocks[i + 1]] as const] : [],
);

describe('examples of docs/templates.md', () => {
  test.each(templates)('%s', async (_name, block, next) => {
    if (block.language.includes('refused')) {
      expect((await problemsOf(setOf(block))).join('\n')).toContain(next!.text.trim());
      return;
    }
    const { pieces } = await renderTemplates(setOf(block));
    const [piece] = pieces;
    if (next?.language === 'haproxy') expect(piece).toMatchObject({ text: next.text });
  });
});

test('the names are those that templates have; npx node --conditions=source tools/template-names.ts writes them', () => {
  expect(withNames(page)).toBe(page);
});
