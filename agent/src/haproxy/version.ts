/** Whether a full version such as `3.4.7` is this minor one or a later one. */
export function atLeast(version: string, major: number, minor: number): boolean {
  const [ofMajor = 0, ofMinor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return ofMajor > major || (ofMajor === major && ofMinor >= minor);
}
