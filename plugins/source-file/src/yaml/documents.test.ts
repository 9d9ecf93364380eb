import { describe, expect, it } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { readDocuments } from './documents.ts';

async function problemsOf(text: string): Promise<readonly string[]> {
  try {
    await readDocuments('f.yaml', text);
  } catch (error) {
    if (error instanceof Refused) return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('readDocuments', () => {
  it.each([
    ['', []],
    ['# nothing\n---\n---\n', []],
    ['a: 1\n---\nb: 2\n', [{ a: 1 }, { b: 2 }]],
    ['{\n\t"a": [\n\t\t1\n\t]\n}\n', [{ a: [1] }]],
    ['a: yes\nb: 0o7\nc: 012\nd: 2020-01-01\n', [{ a: 'yes', b: 7, c: 12, d: '2020-01-01' }]],
    ['base: &b {x: 1}\nover:\n  <<: *b\n  y: 2\n', [{ base: { x: 1 }, over: { x: 1, y: 2 } }]],
    ['a: |\r\n  x\r\n  y\r\n', [{ a: 'x\ny\n' }]],
  ])('reads %j', async (text, values) => {
    const documents = await readDocuments('f.yaml', text);
    expect(documents.map(({ value }) => value)).toEqual(values);
  });

  it.each([
    ['a: 1\na: 2\n', ['f.yaml:2:1: Map keys must be unique', '  2 | a: 2', '      ^']],
    [
      'x: y\na: [1, 2\nb: c\n',
      [
        'f.yaml:3:1: Flow sequence in block collection must be sufficiently indented and end with a ]',
        '  3 | b: c',
        '      ^',
      ],
    ],
    [
      'ok: 1\n---\na: *nope\n',
      [
        'f.yaml:3:1: Unresolved alias (the anchor must be set before the alias): nope',
        '  3 | a: *nope',
        '      ^',
      ],
    ],
    ['a: !wat 3\n', ['f.yaml:1:4: Unresolved tag: !wat', '  1 | a: !wat 3', '         ^']],
    ['a:\n\tb: 1\n', expect.arrayContaining(['f.yaml:2:1: Tabs are not allowed as indentation'])],
  ])('refuses %j', async (text, lines) => {
    expect(await problemsOf(text)).toEqual(lines);
  });

  it('names the faults of all documents', async () => {
    const lines = await problemsOf('a: 1\na: 2\n---\nok: 1\n---\nb: 1\nb: 2\n');
    expect(lines.filter((line) => line.startsWith('f.yaml'))).toEqual([
      'f.yaml:2:1: Map keys must be unique',
      'f.yaml:7:1: Map keys must be unique',
    ]);
  });

  it('refuses a few aliases that stand for millions of values', async () => {
    const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i++)
      bomb.push(
        `a${i}: &a${i} [${Array(10)
          .fill(`*a${i - 1}`)
          .join(', ')}]`,
      );
    expect((await problemsOf(bomb.join('\n')))[0]).toMatch(/^f\.yaml:1:1: Excessive alias count/);
  });

  it.each(['['.repeat(20_000), '{a: '.repeat(5000), '- '.repeat(5000)])(
    'survives nesting without end',
    async (text) => {
      expect((await problemsOf(text))[0]).toMatch(/^f\.yaml:/);
    },
  );
});

describe('a document', () => {
  const text = [
    '# comment', // 1
    'spec:', // 2
    '  templateSnippets:', // 3
    '    block:', // 4
    '      template: |', // 5
    '        first line', // 6
    '        second', // 7
    '    folded:', // 8
    '      template: >-', // 9
    '', // 10
    '         text', // 11
    '    plain: {template: "quoted", list: [a, b]}', // 12
    '  list:', // 13
    '  - name: x', // 14
    '  - name: y', // 15
    '---', // 16
    'second: 1', // 17
  ].join('\n');

  it.each([
    [[], 'value', 2, 1],
    [['spec'], 'value', 2, 1],
    [['spec', 'templateSnippets', 'block'], 'key', 4, 5],
    [['spec', 'templateSnippets', 'block', 'template'], 'key', 5, 7],
    [['spec', 'templateSnippets', 'block', 'template'], 'value', 6, 9],
    [['spec', 'templateSnippets', 'folded', 'template'], 'value', 10, 1],
    [['spec', 'templateSnippets', 'plain', 'template'], 'value', 12, 23],
    [['spec', 'templateSnippets', 'plain', 'list', 1], 'value', 12, 43],
    [['spec', 'templateSnippets', 'plain', 'missing'], 'value', 12, 5],
    [['spec', 'templateSnippets', 'nowhere', 'at', 'all'], 'key', 3, 3],
    [['spec', 'list', 1, 'name'], 'value', 15, 11],
    [['spec', 'list', 1], 'value', 15, 5],
    [['nothing'], 'value', 2, 1],
  ] as const)('knows where the %j %s stands', async (path, of, line, column) => {
    const [document] = await readDocuments('f.yaml', text);
    expect(document!.locate(path, of)).toEqual({ file: 'f.yaml', line, column });
  });

  it('counts lines from the beginning of the file', async () => {
    const documents = await readDocuments('f.yaml', text);
    expect(documents[1]!.locate(['second'])).toEqual({ file: 'f.yaml', line: 17, column: 9 });
  });

  it('follows aliases', async () => {
    const [document] = await readDocuments('f.yaml', 'a: &x\n  b: 1\nc: *x\n');
    expect(document!.locate(['c', 'b'])).toEqual({ file: 'f.yaml', line: 2, column: 6 });
  });
});
