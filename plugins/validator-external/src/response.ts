import { z } from 'zod';
import { PROTOCOL_VERSION } from './request.ts';
import { Unanswered } from './unanswered.ts';

const position = z.int().min(0);
const diagnostic = z.object({ path: z.string(), line: position, column: position, message: z.string() });

const responseSchema = z.object({
  result: z.enum(['valid', 'warning', 'error']),
  warnings: z.array(diagnostic),
  errors: z.array(diagnostic),
});
const versionSchema = z.object({ protocol_version: z.int() });

export type Diagnostic = z.output<typeof diagnostic>;
export type Response = z.output<typeof responseSchema>;

/** @throws Unanswered for everything that is not an answer of this version. */
export function decodeResponse(body: Buffer): Response {
  const json = parseJson(body);
  const version = parse(versionSchema, json).protocol_version;
  if (version !== PROTOCOL_VERSION) {
    throw new Unanswered(
      `answered in version ${version} of the protocol, this is version ${PROTOCOL_VERSION}`,
    );
  }
  const response = parse(responseSchema, json);
  const said = resultOf(response);
  if (said !== response.result) {
    throw new Unanswered(`answered "${response.result}" with diagnostics that say "${said}"`);
  }
  return response;
}

function resultOf({ errors, warnings }: Response): Response['result'] {
  if (errors.length > 0) return 'error';
  return warnings.length > 0 ? 'warning' : 'valid';
}

function parseJson(body: Buffer): unknown {
  try {
    // A byte order mark stays, and is not JSON.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (cause) {
    throw new Unanswered('sent an answer that is not JSON in UTF-8', { cause });
  }
}

/** At most this many of an answer's mistakes are named. */
const NAMED_ISSUES = 3;

function parse<S extends z.ZodType>(schema: S, json: unknown): z.output<S> {
  const result = schema.safeParse(json);
  if (result.success) return result.data;
  const issues = result.error.issues.slice(0, NAMED_ISSUES).map(({ path, message }) => {
    return path.length === 0 ? message : `${path.join('.')}: ${message}`;
  });
  throw new Unanswered(`sent an answer that is none of the protocol's: ${issues.join('; ')}`);
}
