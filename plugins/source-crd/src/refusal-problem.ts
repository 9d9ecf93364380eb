/** Of more, one reads no more: where a right is missing it is mostly the same one. */
const MOST = 5;

/** What is refused, in one text of a bounded length; undefined where nothing is. */
export function refusalProblem(refusals: readonly string[]): string | undefined {
  const different = [...new Set(refusals)];
  if (different.length === 0) return undefined;
  const more = different.length - MOST;
  return [...different.slice(0, MOST), ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}
