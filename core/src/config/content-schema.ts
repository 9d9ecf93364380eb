import { z } from 'zod';
import { isJsonObject } from '../contract/merge-json.ts';
import type { Json, JsonObject } from '../contract/object.ts';

export const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected an object');

/** Watches, or fields of them, without which the content is dropped. Which watches there are is known after merging only. */
export const requires = z.array(z.string()).default([]);

const template = z.string();

export const haproxyConfig = z.strictObject({ template });
export const templateContent = z.strictObject({ template, requires });
export const fileContent = z.strictObject({ template, requires, reloadOnChange: z.boolean().default(true) });

export const mapContent = z.strictObject({
  match: z.enum(['str', 'beg', 'end', 'sub', 'dom', 'dir', 'reg', 'ip']),
  value: z.enum(['str', 'int', 'ip']).default('str'),
  layer: z.enum(['leaf', 'list', 'path', 'host']).default('leaf'),
  secret: z.boolean().default(false),
  requires,
});

const annotationTypes = [
  'bool',
  'cidr-list',
  'cookie-name',
  'duration',
  'enum',
  'header-map',
  'header-name',
  'host',
  'int',
  'path',
  'percent',
  'port',
  'regex',
  'secret-ref',
  'size',
  'string',
  'url',
] as const;

export const annotationContent = z
  .strictObject({
    type: z.enum(annotationTypes),
    enum: z.array(z.string()).min(1).exactOptional(),
    min: z.number().exactOptional(),
    max: z.number().exactOptional(),
    default: z.custom<Json>((value) => value !== undefined).exactOptional(),
    appliesTo: z.array(z.string()).min(1),
    security: z.boolean().default(false),
    doc: z.string().min(1),
    requires,
  })
  .superRefine((annotation, context) => {
    if ((annotation.type === 'enum') === (annotation.enum !== undefined)) return;
    const message =
      annotation.enum === undefined
        ? 'missing: type "enum" lists its values here'
        : 'only type "enum" lists values';
    context.addIssue({ code: 'custom', path: ['enum'], message });
  });
