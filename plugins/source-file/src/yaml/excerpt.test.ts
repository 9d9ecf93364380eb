import { describe, expect, it } from 'vitest';
import { excerpt } from './excerpt.ts';

describe('excerpt', () => {
  it('shows the line with a caret below the column', () => {
    expect(excerpt(['a: 1', 'bc: x'], { line: 2, column: 5 })).toBe('  2 | bc: x\n          ^');
  });

  it('keeps the caret below its character, whatever stands before it', () => {
    const shown = excerpt(['a\t\u001b[31mb'], { line: 1, column: 8 });
    const [line, caret] = shown.split('\n');
    expect(line![caret!.indexOf('^')]).toBe('b');
    expect(shown).not.toMatch(/[\t\u001b]/);
  });

  it('shows the part of a long line that matters', () => {
    const [line, caret] = excerpt([`${'x'.repeat(5000)}!${'y'.repeat(5000)}`], {
      line: 1,
      column: 5001,
    }).split('\n');
    expect(line!.length).toBeLessThan(140);
    expect(line![caret!.indexOf('^')]).toBe('!');
  });

  it('does not fail where there is no such line', () => {
    expect(excerpt([], { line: 3, column: 1 })).toBe('  3 | \n      ^');
  });
});
