import type { Dispatcher } from 'undici';
import { FetchFailure } from './failure.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}

/** An end that only the connection marks could be a cut as well. */
function checkFraming(headers: Dispatcher.ResponseData['headers'], maxSize: number): void {
  const encoding = one(headers['content-encoding'])?.toLowerCase() ?? 'identity';
  if (encoding !== 'identity') throw new FetchFailure(`the answer is encoded (${encoding})`);
  const length = one(headers['content-length']);
  const chunked = one(headers['transfer-encoding'])?.toLowerCase().includes('chunked') === true;
  if (length === undefined && !chunked) {
    throw new FetchFailure('the answer says nothing about its length: a cut one would look the same');
  }
  if (Number(length ?? 0) > maxSize) throw tooLarge(maxSize);
}

function tooLarge(maxSize: number): FetchFailure {
  return new FetchFailure(`the answer is larger than ${maxSize} bytes`);
}

/** The whole text of an answer, and never more bytes of it than may be. @throws FetchFailure */
export async function readText(
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  maxSize: number,
): Promise<string> {
  checkFraming(headers, maxSize);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxSize) throw tooLarge(maxSize);
    chunks.push(chunk);
  }
  try {
    return decoder.decode(Buffer.concat(chunks, size));
  } catch (error) {
    throw new FetchFailure('the answer is no UTF-8', { cause: error });
  }
}
