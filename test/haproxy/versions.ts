import { describe, expect, test } from 'vitest';
import {
  haproxyBinary,
  HaproxyUnavailable,
  supportedVersions,
  type HaproxyMinor,
} from '../../tools/haproxy/index.ts';
import { recordedReason } from '../../tools/haproxy/unavailable-record.ts';

/** A HAProxy to test with. */
export interface Haproxy {
  readonly minor: HaproxyMinor;
  /** Absolute path. */
  readonly binary: string;
}

/** For what is the agent's doing alone, whatever HAProxy's version: the newest, and all of them in the long run. */
export const versionsOfOwnLogic: readonly HaproxyMinor[] =
  process.env['HAPTIC_SOAK'] === '1' ? supportedVersions : supportedVersions.slice(-1);

/** Why a version cannot be tested with here. */
interface Missing {
  readonly minor: HaproxyMinor;
  readonly reason: string;
}

const found = await Promise.all(supportedVersions.map(find));

/**
 * Declares the tests once per supported version (or those given). Where a version cannot be had its tests are skipped, and
 * counted with the reason; in CI that is a failure.
 */
export function forEachVersion(
  declare: (haproxy: Haproxy) => void,
  versions: readonly HaproxyMinor[] = supportedVersions,
): void {
  for (const version of found.filter(({ minor }) => versions.includes(minor))) {
    if ('binary' in version) describe(`HAProxy ${version.minor}`, () => declare(version));
    else declareMissing(version, declare);
  }
}

function declareMissing({ minor, reason }: Missing, declare: (haproxy: Haproxy) => void): void {
  if (process.env['CI'] === 'true') {
    test(`HAProxy ${minor} is there`, () => expect.fail(reason));
    return;
  }
  describe.skip(`HAProxy ${minor} (${reason.split('\n')[0]})`, () =>
    declare({ minor, binary: '/nonexistent' }));
}

async function find(minor: HaproxyMinor): Promise<Haproxy | Missing> {
  const recorded = await recordedReason(minor);
  if (recorded !== undefined) return { minor, reason: recorded };
  try {
    return { minor, binary: await haproxyBinary(minor) };
  } catch (error) {
    if (error instanceof HaproxyUnavailable) return { minor, reason: error.message };
    throw error;
  }
}
