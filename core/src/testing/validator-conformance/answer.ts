import { z } from 'zod';

const place = z.int().min(0);
const diagnostic = z.object({ path: z.string(), line: place, column: place, message: z.string().min(1) });
const answer = z.object({
  protocol_version: z.literal(1),
  result: z.enum(['valid', 'warning', 'error']),
  warnings: z.array(diagnostic),
  errors: z.array(diagnostic),
});

export type Answer = z.output<typeof answer>;
export type Diagnostic = z.output<typeof diagnostic>;

/** @throws Error for what is no answer of protocol version 1. */
export function readAnswer(body: Buffer): Answer {
  const parsed = answer.safeParse(readJson(body));
  if (!parsed.success)
    throw new Error(`not an answer of protocol version 1:\n${z.prettifyError(parsed.error)}`);
  const { result, errors, warnings } = parsed.data;
  const said = errors.length > 0 ? 'error' : warnings.length > 0 ? 'warning' : 'valid';
  if (said !== result) {
    const counts = `${errors.length} errors and ${warnings.length} warnings`;
    throw new Error(`the result is "${result}", but with ${counts} it must be "${said}"`);
  }
  return parsed.data;
}

function readJson(body: Buffer): unknown {
  try {
    // A byte order mark stays, and is not JSON.
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
  } catch (cause) {
    const start = JSON.stringify(body.subarray(0, 60).toString('latin1'));
    throw new Error(`the answer is not JSON in UTF-8 without a byte order mark, it begins with ${start}`, {
      cause,
    });
  }
}
