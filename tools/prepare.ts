import { haproxyBinary, HaproxyUnavailable, supportedVersions } from './haproxy/index.ts';
import { recordUnavailable } from './haproxy/unavailable-record.ts';
import { helmBinary, kubeMinors, kubePrograms, ToolUnavailable } from './kube/index.ts';
import { installLeftOut } from './platform-packages.ts';

const log = (line: string): void => console.error(line);

/**
 * Runs before the tests: gets what they need from outside. What cannot be had is recorded, and the tests that need it are
 * skipped with that reason; in CI it is a failure at once.
 */
async function prepare(): Promise<number> {
  await installLeftOut({ log, signal: undefined });
  const missing = [...(await prepareHaproxy()), ...(await prepareKubernetes())];
  for (const reason of missing) console.error(reason);
  return missing.length > 0 && process.env['CI'] === 'true' ? 1 : 0;
}

/** Why what is missing is missing. */
async function prepareHaproxy(): Promise<readonly string[]> {
  const outcomes = await Promise.all(
    supportedVersions.map(async (minor) => ({ minor, ...(await getHaproxy(minor)) })),
  );
  const missing = outcomes.flatMap(({ minor, reason }) =>
    reason === undefined ? [] : [[minor, reason] as const],
  );
  for (const { minor, binary } of outcomes) {
    if (binary !== undefined) console.log(`HAProxy ${minor}: ${binary}`);
  }
  await recordUnavailable(Object.fromEntries(missing));
  return missing.map(([, reason]) => reason);
}

async function getHaproxy(minor: string): Promise<{ readonly binary?: string; readonly reason?: string }> {
  try {
    return { binary: await haproxyBinary(minor, { log }) };
  } catch (error) {
    if (error instanceof HaproxyUnavailable) return { reason: error.message };
    throw error;
  }
}

/** One program after the other: each build takes all of the machine. */
async function prepareKubernetes(): Promise<readonly string[]> {
  const missing: string[] = [];
  const wanted = [
    ...kubeMinors.map((minor) => async () => (await kubePrograms(minor, { log }))['kube-apiserver']),
    () => helmBinary({ log }),
  ];
  for (const get of wanted) {
    try {
      console.log(`Kubernetes: ${await get()}`);
    } catch (error) {
      if (!(error instanceof ToolUnavailable)) throw error;
      missing.push(error.message);
    }
  }
  return missing;
}

process.exitCode = await prepare();
