/** Version of the messages below. Both sides ignore fields that they do not know; `skew` says what an agent could not do. */
export const PROTOCOL_VERSION = 2;

/** What an agent accepts at most. Sizes in bytes. */
export const LIMITS = {
  body: 64 * 1024 * 1024,
  files: 65_536,
  ops: 1_000,
  /** No installation has so many terms: who claims a higher one lies, and would make all others stale for ever. */
  epoch: 2 ** 40,
  /** Of the whole relative path; a single name is held to the file system's 255. */
  path: 1_024,
  /** Of the stored plan once decompressed: controllers refuse more from an agent. */
  plan: 64 * 1024 * 1024,
  /** Longest wait of a state request, milliseconds. */
  wait: 60_000,
} as const;
