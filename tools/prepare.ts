import { haproxyBinary, HaproxyUnavailable, supportedVersions } from './haproxy/index.ts';
import { recordUnavailable } from './haproxy/unavailable-record.ts';

/**
 * Runs before the tests: gets what they need from outside. What cannot be had is recorded, and the tests that need it are
 * skipped with that reason; in CI it is a failure at once.
 */
async function prepare(): Promise<number> {
  const outcomes = await Promise.all(
    supportedVersions.map(async (minor) => ({ minor, ...(await get(minor)) })),
  );
  const missing = outcomes.flatMap(({ minor, reason }) =>
    reason === undefined ? [] : [[minor, reason] as const],
  );
  for (const { minor, binary } of outcomes) {
    if (binary !== undefined) console.log(`HAProxy ${minor}: ${binary}`);
  }
  for (const [, reason] of missing) console.error(reason);
  await recordUnavailable(Object.fromEntries(missing));
  return missing.length > 0 && process.env['CI'] === 'true' ? 1 : 0;
}

async function get(minor: string): Promise<{ readonly binary?: string; readonly reason?: string }> {
  try {
    return { binary: await haproxyBinary(minor, { log: (line) => console.error(line) }) };
  } catch (error) {
    if (error instanceof HaproxyUnavailable) return { reason: error.message };
    throw error;
  }
}

process.exitCode = await prepare();
