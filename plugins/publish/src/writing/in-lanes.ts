/**
 * Works on many things, a few at a time, and waits for all of them.
 * @throws the first failure
 */
export async function inLanes<T>(
  things: Iterable<T>,
  lanes: number,
  work: (thing: T) => Promise<void>,
): Promise<void> {
  const left = things[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await work(next.value);
  };
  const ends = await Promise.allSettled(Array.from({ length: lanes }, lane));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason as Error;
}
