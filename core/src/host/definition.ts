import { z } from 'zod';
import { PluginError } from '../contract/errors.ts';
import { API_VERSION, type PluginDefinition } from '../contract/plugin.ts';
import { schemaProblems } from '../config/schema-problems.ts';
import { JUDGE_KINDS } from './guard.ts';

const isSchema = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'safeParse' in value &&
  typeof value.safeParse === 'function';
const schema = z.custom<z.ZodType>(isSchema, 'must be a zod schema, e.g. z.strictObject({})');

const Definition = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/, 'must be lower-case words joined by hyphens'),
  apiVersion: z.literal(API_VERSION),
  options: schema,
  config: z.strictObject({ key: z.string().min(1), schema }).optional(),
  judge: z.enum(JUDGE_KINDS).optional(),
  after: z.array(z.string()).optional(),
  setup: z.custom<object>((value) => typeof value === 'function', 'must be a function'),
});

/** Judges what a module exports; plugins in JavaScript have no compiler to do it. `use` names it in the error. */
export function checkDefinition<H>(use: string, value: unknown): PluginDefinition<z.ZodType, H> {
  if (typeof value !== 'object' || value === null) {
    throw new PluginError('PLUGIN_API', use, 'has no default export made by definePlugin({…})');
  }
  const name = 'name' in value && typeof value.name === 'string' ? value.name : use;
  if ('apiVersion' in value && value.apiVersion !== API_VERSION) {
    const versions = `needs version ${String(value.apiVersion)} of the plugin contract, this host has ${API_VERSION}`;
    throw new PluginError('PLUGIN_API', name, `${versions}; install the plugin's release for it`);
  }
  const result = Definition.safeParse(value);
  if (result.success) return value as PluginDefinition<z.ZodType, H>;
  throw new PluginError('PLUGIN_API', name, describeProblems(Definition, result.error, value), {
    cause: result.error,
  });
}

/** Where a path of a value was written. */
export type Locate = (path: readonly (string | number)[]) => string;

/** The options with their defaults. */
export function parseOptions<H>(
  plugin: PluginDefinition<z.ZodType, H>,
  options: unknown,
  locate?: Locate,
): unknown {
  const result = plugin.options.safeParse(options ?? {});
  if (result.success) return result.data;
  const problems = describeProblems(plugin.options, result.error, options, locate);
  throw new PluginError('PLUGIN_OPTIONS', plugin.name, `options are not valid: ${problems}`, {
    cause: result.error,
  });
}

/** `place path: message` for each problem; a message about a key names it already. */
function describeProblems(schema: z.ZodType, error: z.ZodError, value: unknown, locate?: Locate): string {
  return schemaProblems(schema, error, value)
    .map(({ path, of, message }) => {
      const inside = (of === 'key' ? path.slice(0, -1) : path).join('.');
      const place = locate === undefined ? inside : `${locate(path)} ${inside}`.trimEnd();
      return place === '' ? message : `${place}: ${message}`;
    })
    .join('; ');
}
