import { stat } from 'node:fs/promises';
import {
  etcdBinary,
  helmBinary,
  isKubeMinor,
  kubeMinors,
  kubePrograms,
  ToolUnavailable,
  type ToolOptions,
} from './index.ts';

/** `main.ts [1.33 … etcd helm]`: gets these programs (all without arguments) and prints their paths and sizes. */
async function main(wanted: readonly string[]): Promise<number> {
  let status = 0;
  for (const name of wanted) {
    try {
      for (const path of await pathsOf(name, { log: (line) => console.error(line) })) {
        console.log(`${path} ${((await stat(path)).size / 1e6).toFixed(1)} MB`);
      }
    } catch (error) {
      if (!(error instanceof ToolUnavailable)) throw error;
      console.error(error.message);
      status = 1;
    }
  }
  return status;
}

async function pathsOf(name: string, options: ToolOptions): Promise<readonly string[]> {
  if (name === 'etcd') return [await etcdBinary(options)];
  if (name === 'helm') return [await helmBinary(options)];
  if (isKubeMinor(name)) return Object.values(await kubePrograms(name, options));
  throw new Error(`"${name}" is none of ${[...kubeMinors, 'etcd', 'helm'].join(', ')}`);
}

const wanted = process.argv.slice(2);
process.exitCode = await main(wanted.length === 0 ? [...kubeMinors, 'etcd', 'helm'] : wanted);
