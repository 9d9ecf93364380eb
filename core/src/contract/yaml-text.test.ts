import { describe, expect, it } from 'vitest';
import type { Refused } from './errors.ts';
import { formatPosition, readYaml } from './yaml-text.ts';

function problemsOf(text: string) {
  try {
    readYaml('a.yaml', text);
  } catch (error) {
    return (error as Refused).problems;
  }
  return [];
}

describe('readYaml', () => {
  it('reads every document, and says where paths stand', () => {
    const [first, second] = readYaml('a.yaml', 'a:\n  b: [1, {c: 2}]\n---\n- x\n');
    expect(first?.value).toEqual({ a: { b: [1, { c: 2 }] } });
    const at = (path: (string | number)[]) => formatPosition(first!.locate(path));
    expect(at([])).toBe('a.yaml:1:1');
    expect(at(['a', 'b'])).toBe('a.yaml:2:3');
    expect(at(['a', 'b', 0])).toBe('a.yaml:2:7');
    expect(at(['a', 'b', 1, 'c'])).toBe('a.yaml:2:11');
    expect(second?.value).toEqual(['x']);
    expect(formatPosition(second!.locate([0]))).toBe('a.yaml:4:3');
  });

  it('names the nearest parent of a path that does not exist', () => {
    const [document] = readYaml('a.yaml', '# nothing\na:\n  b: 1\n');
    expect(formatPosition(document!.locate(['a', 'x', 3]))).toBe('a.yaml:2:1');
    expect(formatPosition(document!.locate(['x']))).toBe('a.yaml:2:1');
  });

  it('reads JSON, and nothing', () => {
    expect(readYaml('a.json', '{\n\t"a": [true, null, 1.5]\n}')[0]?.value).toEqual({ a: [true, null, 1.5] });
    expect(readYaml('a.yaml', '')).toEqual([]);
    expect(readYaml('a.yaml', '# only words\n').map(({ value }) => value)).toEqual([]);
  });

  it('refuses all syntax errors at once, with their places', () => {
    expect(problemsOf('a: 1\na: 2\n---\nb: [1\n').map(({ where }) => where)).toEqual([
      'a.yaml:2:1',
      'a.yaml:5:1',
    ]);
    expect(problemsOf('a: !secret x\n')).toMatchObject([{ where: 'a.yaml:1:4' }]);
  });

  it('refuses a document whose aliases would fill the memory', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level < 10; level++) {
      const previous = Array.from({ length: 9 }, () => `*a${level - 1}`).join(', ');
      lines.push(`a${level}: &a${level} [${previous}]`);
    }
    expect(problemsOf(lines.join('\n'))).toHaveLength(1);
  });
});
