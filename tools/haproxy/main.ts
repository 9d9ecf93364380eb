import { haproxyBinary, HaproxyUnavailable, isSupported, supportedVersions } from './index.ts';

/** `main.ts [3.4 …]`: gets these branches (all without arguments) and prints their paths. */
async function main(minors: readonly string[]): Promise<number> {
  const unsupported = minors.filter((minor) => !isSupported(minor));
  if (unsupported.length > 0) {
    console.error(`not supported: ${unsupported.join(', ')} (there are ${supportedVersions.join(', ')})`);
    return 2;
  }
  let status = 0;
  for (const minor of minors) {
    try {
      console.log(await haproxyBinary(minor, { log: (line) => console.error(line) }));
    } catch (error) {
      if (!(error instanceof HaproxyUnavailable)) throw error;
      console.error(error.message);
      status = 1;
    }
  }
  return status;
}

const minors = process.argv.slice(2);
process.exitCode = await main(minors.length === 0 ? supportedVersions : minors);
