import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createTerminal } from './terminal.ts';

function stream(isTTY: boolean): NodeJS.WriteStream & PassThrough {
  return Object.assign(new PassThrough(), { isTTY }) as unknown as NodeJS.WriteStream & PassThrough;
}

function said(written: PassThrough): string {
  return ((written.read() as Buffer | null) ?? '').toString();
}

describe('a terminal', () => {
  it('shows progress and clears the screen where a person looks', () => {
    const [stdout, stderr] = [stream(true), stream(true)];
    const { progress, clear } = createTerminal(stdout, stderr);
    progress?.('1/2 a');
    progress?.(undefined);
    clear?.();
    expect(said(stderr)).toBe('\r1/2 a\x1B[K\r\x1B[K');
    expect(said(stdout)).toBe('\x1B[2J\x1B[3J\x1B[H');
  });

  it('does neither in a pipe', () => {
    const { progress, clear } = createTerminal(stream(false), stream(false));
    expect([progress, clear]).toEqual([undefined, undefined]);
  });
});
