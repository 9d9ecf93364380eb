import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { frameHeader, FrameReader, MAX_FRAME_BYTES } from './frame.ts';

test('a body is the same however it is cut', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 50 }), fc.array(fc.nat(60)), (body, cuts) => {
      const frame = Buffer.concat([frameHeader(body.length), body]);
      const edges = [0, ...cuts.filter((cut) => cut < frame.length).toSorted((a, b) => a - b), frame.length];
      const reader = new FrameReader();
      const answers = edges.slice(1).map((end, index) => reader.push(frame.subarray(edges[index], end)));
      expect(answers.at(-1)).toEqual(Buffer.from(body));
    }),
  );
});

test('the largest frame is taken, a larger one refused at its announcement', () => {
  const largest = Buffer.alloc(MAX_FRAME_BYTES, 'x');
  const reader = new FrameReader();
  expect(reader.push(frameHeader(MAX_FRAME_BYTES))).toBeUndefined();
  expect(reader.push(largest)).toEqual(largest);
  expect(() => new FrameReader().push(frameHeader(MAX_FRAME_BYTES + 1))).toThrow(
    'announced an answer of 8388609',
  );
});

test('what comes after the frame is a second answer', () => {
  const frame = Buffer.concat([frameHeader(2), Buffer.from('{}')]);
  expect(() => new FrameReader().push(Buffer.concat([frame, frame]))).toThrow('more than one answer');
  expect(() => new FrameReader().push(Buffer.concat([frame, Buffer.from('\n')]))).toThrow('more than one');
});

test('a cut frame says how far it came', () => {
  const reader = new FrameReader();
  expect(reader.progress).toBeUndefined();
  reader.push(Buffer.from([0, 0]));
  expect(reader.progress).toBe('2 bytes');
  reader.push(Buffer.from([0, 9, 65]));
  expect(reader.progress).toBe('1 of 9 bytes');
});
