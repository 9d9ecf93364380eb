import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { memoryLog } from '@haptic/core/testing';
import { forwardLines } from './child-log.ts';

test('passes on lines with the level that they were meant to have', async () => {
  const log = memoryLog();
  const lines = [
    '{"level":40,"time":1,"pid":2,"hostname":"h","msg":"from pino","plan":"p"}',
    '{"level":"error","message":"named"}',
    '{"level":"__proto__","msg":"odd"}',
    '{broken',
    '[ALERT]    (7) : bad',
    '[WARNING]  (7) : hm',
    '127.0.0.1 - an access line',
    '',
  ];
  const stream = Readable.from([`${lines.join('\n')}\n`]);
  forwardLines(stream, log);
  while (log.records.length < 7) await turn();
  expect(log.records.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ['warn', 'from pino', { plan: 'p' }],
    ['error', 'named', {}],
    ['info', 'odd', {}],
    ['info', 'HAProxy', { line: '{broken' }],
    ['error', 'HAProxy', { line: '[ALERT]    (7) : bad' }],
    ['info', 'HAProxy', { line: '[WARNING]  (7) : hm' }],
    ['info', 'HAProxy', { line: '127.0.0.1 - an access line' }],
  ]);
});
