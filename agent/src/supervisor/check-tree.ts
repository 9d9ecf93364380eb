import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { MAIN_CONFIG } from '@haptic/core/contract';
import { errorWords } from '../haproxy/master-socket.ts';
import { cannotStart, haproxyEnvironment } from './haproxy-process.ts';

const MAX_WORDS = 64 * 1024;

/**
 * What `haproxy -c` says against a tree; undefined when it would load. A check that hangs (some crt-lists loop for ever) is no
 * pass.
 * @throws Refused when the program cannot be started.
 */
export async function checkTree(
  binary: string,
  folder: string,
  timeoutMs: number,
): Promise<string | undefined> {
  const child = spawn(binary, ['-c', '-dr', '-C', folder, '-f', MAIN_CONFIG], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: haproxyEnvironment(),
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let words = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    if (words.length < MAX_WORDS) words += text;
  });
  const ended = once(child, 'close').catch((error: unknown) => cannotStart(binary, error));
  const [code, signal] = (await ended) as [number | null, NodeJS.Signals | null];
  if (code === 0) return undefined;
  if (signal !== null) return `the check ended by ${signal} (time limit ${timeoutMs} ms)`;
  return errorWords(words) || `the check ended with exit code ${code}`;
}
