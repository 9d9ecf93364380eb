import { z } from 'zod';
import type { Json } from '../contract/object.ts';
import { checkedText } from './checked-text.ts';
import { jsonObject, requires } from './content-schema.ts';
import { parseJsonPath } from './json-path.ts';
import { parsePattern } from './pattern.ts';
import { routes } from './route-schema.ts';
import { parseDataTarget, parseTarget } from './target.ts';

const fixture = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name: z.string().min(1), namespace: z.string().min(1).exactOptional() }),
});
const fixtures = z.record(z.string(), z.array(fixture)).default({});

const description = z.string().exactOptional();
const target = checkedText(parseTarget);
const pattern = checkedText(parsePattern);

const dataTarget = checkedText(parseDataTarget);
const jsonPath = checkedText(parseJsonPath);
const json = z.custom<Json>((value) => value !== undefined, 'missing, expected a value');

const assertion = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal(['contains', 'not_contains']), description, target, pattern }),
  z.strictObject({ type: z.literal('equals'), description, target, expected: z.string() }),
  z.strictObject({ type: z.literal('match_count'), description, target, pattern, expected: z.int().min(0) }),
  z.strictObject({
    type: z.literal('match_order'),
    description,
    target,
    patterns: z.array(pattern).min(2, 'an order needs two patterns'),
  }),
  z.strictObject({
    type: z.literal('jsonpath'),
    description,
    target: dataTarget,
    path: jsonPath,
    expected: json.exactOptional(),
  }),
  z.strictObject({ type: z.literal(['haproxy_valid', 'deterministic']), description }),
  routes,
  z.strictObject({ type: z.literal('rendering_error'), description, pattern: pattern.exactOptional() }),
]);

const httpResource = z.strictObject({
  // Of any host, addresses and single words included.
  url: z.url({ protocol: /^https?$/, error: 'expected a URL of http or https' }),
  content: z.string(),
});
const httpResources = z.array(httpResource).default([]);

/** A server of a render before, as templates see it in `current`. */
const currentServer = z.strictObject({
  name: z.string().min(1),
  address: z.union([z.ipv4(), z.ipv6()]),
  port: z.int().min(1).max(65_535),
  weight: z.int().min(0).max(256).exactOptional(),
  state: z.enum(['ready', 'drain', 'maint']).default('ready'),
});

const shared = { description, fixtures, settings: jsonObject.default({}), requires, httpResources };

export const validationTest = z.strictObject({
  ...shared,
  currentServers: z.record(z.string().min(1), z.array(currentServer)).exactOptional(),
  currentFiles: z.record(z.string().min(1), z.string()).exactOptional(),
  minHAProxyVersion: z
    .string()
    .regex(/^\d+\.\d+(?:\.\d+)?$/, 'expected a version such as "3.2", in quotes')
    .exactOptional(),
  assertions: z.array(assertion).min(1),
});

/** What all tests share. It claims nothing itself, so assertions are unknown keys here. */
export const globalTest = z.strictObject(shared);
