/** More than any object an API server stores, escapes included. A longer line comes from something else. */
const LONGEST_LINE = 16 * 1024 * 1024;

const NEWLINE = 0x0a;

/**
 * Splits a stream of JSON values, one a line, yielding all that a chunk completes together. A last line without its end is no
 * value: the connection broke in the middle of it.
 * @throws SyntaxError for a line that is no JSON
 */
export async function* jsonLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<readonly unknown[]> {
  let pending: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(NEWLINE);
    length += chunk.length;
    if (end === -1) {
      pending.push(chunk);
      if (length > LONGEST_LINE) throw new SyntaxError(`a line of more than ${LONGEST_LINE} bytes`);
      continue;
    }
    const text = Buffer.concat([...pending, chunk.subarray(0, end)]).toString('utf8');
    pending = [chunk.subarray(end + 1)];
    length = chunk.length - end - 1;
    yield text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown);
  }
}
