import * as fc from 'fast-check';
import { hostilePieces } from '@haptic/core/testing';

// What a line refuses; the refusals have tests of their own.
const refused = /[\0-\x1f\x7f]/g;

const hostile: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.constantFrom(...hostilePieces), fc.string({ unit: 'grapheme', maxLength: 3 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join('').replaceAll(refused, '').toWellFormed())
  .filter((value) => value !== '');

/** The same values for the same seed; every 97th is long. */
export function hostileValues(count: number, seed: number): readonly string[] {
  return fc
    .sample(hostile, { numRuns: count, seed })
    .map((value, i) => (i % 97 === 96 ? value.repeat(100).slice(0, 6_000).toWellFormed() : value));
}

/** From the environment, so that a failed run can be repeated. */
export const seed = Number(process.env['HAPTIC_SEED'] ?? Date.now() % 2 ** 31);
export const isSoak = process.env['HAPTIC_SOAK'] === '1';
