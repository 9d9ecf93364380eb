import { fileURLToPath } from 'node:url';

/** How to start this program again, as a child: the same Node.js with the same flags. */
export function ownCommand(): { readonly command: string; readonly args: readonly string[] } {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const conditions = process.execArgv.filter((flag) => flag.startsWith('--conditions'));
  const main = fileURLToPath(new URL(`./main.${extension}`, import.meta.url));
  return { command: process.execPath, args: [...conditions, main] };
}
