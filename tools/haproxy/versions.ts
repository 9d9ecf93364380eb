/** The release branches that HAPTIC supports, oldest first. */
export const supportedVersions = ['3.0', '3.2', '3.4'] as const;

export type HaproxyMinor = (typeof supportedVersions)[number];

export function isSupported(text: string): text is HaproxyMinor {
  return (supportedVersions as readonly string[]).includes(text);
}

/** The version in the output of `haproxy -v`: `3.4.7-1`; undefined when this is no such output. */
export function parseVersionOutput(output: string): string | undefined {
  return /^HAProxy version (\d+\.\d+\S*)/m.exec(output)?.[1];
}

/** Whether a full version is a release of the branch: `3.4.7-1` is of 3.4; `3.40.1` and `3.4-dev5` are not. */
export function isReleaseOf(version: string, minor: string): boolean {
  return version.startsWith(`${minor}.`) && !/dev|~rc/.test(version);
}
