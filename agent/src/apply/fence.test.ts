import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { applyAnswerSchema, applyRequestSchema, type ApplyAnswer } from '../protocol/index.ts';
import { Fence } from './fence.ts';

function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'haptic-fence-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
}

const requestOf = (planId: string, seq: number) =>
  applyRequestSchema.parse({
    planId,
    textId: '',
    token: { epoch: 1, seq },
    expect: null,
    mode: 'auto',
    files: [],
  });

function answerOf(outcome: ApplyAnswer['outcome'], message: string): ApplyAnswer {
  return applyAnswerSchema.parse({ outcome, message, planId: 'p', generation: 1, durationMs: 1 });
}

test('a repeat gets the answer of its own request, not one of another request for the same plan', () => {
  const dir = tempDir();
  const fence = new Fence(dir, 'process');
  const [first, second] = [requestOf('p', 1), requestOf('p', 2)];
  const answer = answerOf('file_only', 'the first');
  fence.enter(first);
  fence.answered(first, answer);
  // Refused before it entered.
  fence.answered(second, answerOf('rejected', 'the second'));
  for (const each of [fence, new Fence(dir, 'process')]) {
    expect(each.judge(first, 'p')).toEqual({ kind: 'repeat', answer });
    expect(each.lastAnswer).toMatchObject({ message: 'the second' });
  }
});

test('the end of a reload that was put off is the answer of whoever was told to wait for it, and of nobody else', () => {
  const fence = new Fence(tempDir(), 'process');
  const ended = answerOf('reload', 'the end');
  const waits = requestOf('p', 1);
  fence.enter(waits);
  fence.answered(waits, answerOf('scheduled', 'later'));
  fence.loadEnded('other', answerOf('reload', 'of another plan'));
  expect(fence.judge(waits, 'p')).toMatchObject({ answer: { message: 'later' } });
  fence.loadEnded('p', ended);
  expect(fence.judge(waits, 'p')).toEqual({ kind: 'repeat', answer: ended });

  const refused = requestOf('p', 2);
  const answer = answerOf('rejected', 'no');
  fence.enter(refused);
  // Cut short: what it does is not known.
  fence.loadEnded('p', ended);
  expect(fence.judge(refused, 'p')).toEqual({ kind: 'pass' });
  fence.answered(refused, answer);
  fence.loadEnded('p', ended);
  expect(fence.judge(refused, 'p')).toEqual({ kind: 'repeat', answer });
});
