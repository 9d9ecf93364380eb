import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { structuralSchema } from './structural-schema.ts';

describe('a structural schema', () => {
  test('says what users write, without defaults and without what the structure cannot say', () => {
    const schema = z.strictObject({
      count: z.int().min(1).default(3),
      name: z.string().regex(/^a/),
      other: z
        .string()
        .regex(/^(?!b)/)
        .exactOptional(),
    });
    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['name'],
      properties: {
        count: { type: 'integer', minimum: 1 },
        name: { type: 'string', pattern: '^a' },
        other: { type: 'string' },
      },
    });
  });

  test('keeps what may be anything', () => {
    expect(structuralSchema(z.unknown())).toEqual({ 'x-kubernetes-preserve-unknown-fields': true });
    expect(structuralSchema(z.looseObject({ a: z.string() }))).toMatchObject({
      properties: { a: { type: 'string' } },
      'x-kubernetes-preserve-unknown-fields': true,
    });
  });

  test('judges known names beside free ones as one of these', () => {
    const schema = z
      .object({ all: z.strictObject({ a: z.string() }) })
      .catchall(z.strictObject({ a: z.string(), b: z.string() }));
    expect(structuralSchema(schema).additionalProperties).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'string' }, b: { type: 'string' } },
    });
  });

  test('makes one object of a union, with a rule for each member', () => {
    const schema = z.discriminatedUnion('type', [
      z.strictObject({ type: z.literal(['a', 'b']), text: z.string(), note: z.string().exactOptional() }),
      z.strictObject({ type: z.literal('c') }),
    ]);
    expect(structuralSchema(schema)).toEqual({
      type: 'object',
      required: ['type'],
      properties: {
        type: { type: 'string', enum: ['a', 'b', 'c'] },
        text: { type: 'string' },
        note: { type: 'string' },
      },
      'x-kubernetes-validations': [
        {
          rule: "!(self.type in ['a', 'b']) || (has(self.text))",
          message: "type 'a' or 'b' needs text, may have note, has no other fields",
        },
        {
          rule: "!(self.type in ['c']) || (!has(self.text) && !has(self.note))",
          message: "type 'c' has no other fields",
        },
      ],
    });
  });

  test('has no words for a union of objects that nothing tells apart', () => {
    const schema = z.union([z.strictObject({ a: z.string() }), z.strictObject({ b: z.string() })]);
    expect(() => structuralSchema(schema)).toThrow('no field in common');
  });
});
