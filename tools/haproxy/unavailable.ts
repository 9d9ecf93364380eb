/** No HAProxy of that branch could be had; says what was tried and how to mend it. */
export class HaproxyUnavailable extends Error {
  override readonly name = 'HaproxyUnavailable';
  readonly minor: string;
  /** What was tried, in order, each with its outcome. */
  readonly attempts: readonly string[];

  constructor(minor: string, attempts: readonly string[]) {
    const variable = overrideVariable(minor);
    super(
      [
        `no HAProxy ${minor} on this machine`,
        'Tried:',
        ...attempts.map((attempt) => `  - ${attempt}`),
        `To mend it: name a binary with ${variable}=/path/to/haproxy, or put HAProxy ${minor} into PATH, or run on Debian ` +
          'with access to a package archive.',
      ].join('\n'),
    );
    this.minor = minor;
    this.attempts = attempts;
  }
}

/** The environment variable that names a binary for a branch. */
export function overrideVariable(minor: string): string {
  return `HAPTIC_HAPROXY_${minor.replace('.', '_')}`;
}
