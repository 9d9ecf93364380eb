import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { tempDir } from '../haproxy/temp-dir.ts';
import { script } from './start-judge.ts';

/** When a check ran, milliseconds since the epoch. */
export interface CheckTime {
  readonly start: number;
  readonly end: number;
}

export interface TimedHaproxy {
  /** In HAProxy's place. */
  readonly binary: string;
  /** Of checks that have ended, in the order of their ends: those whose configuration has the word, and all others. */
  times(): Promise<{ readonly withWord: readonly CheckTime[]; readonly others: readonly CheckTime[] }>;
}

/** A HAProxy that notes when its checks run, whoever asks for them. */
export async function timedHaproxy(binary: string, word: string): Promise<TimedHaproxy> {
  const times = join(await tempDir(), 'times');
  // Arguments are: -c -dr -C <tree> -f haproxy.cfg
  const wrapper = `[ "$1" = -c ] || exec ${binary} "$@"
start=$(date +%s%N)
kind=others; grep -q '${word}' "$4/haproxy.cfg" && kind=withWord
${binary} "$@"
code=$?
echo $kind $start $(date +%s%N) >> ${times}
exit $code`;
  return {
    binary: await script(wrapper),
    async times() {
      const lines = (await readFile(times, 'utf8')).trimEnd().split('\n');
      const read = (wanted: string): readonly CheckTime[] =>
        lines
          .map((line) => line.split(' '))
          .filter(([kind]) => kind === wanted)
          .map(([, start, end]) => ({ start: Number(start) / 1e6, end: Number(end) / 1e6 }));
      return { withWord: read('withWord'), others: read('others') };
    },
  };
}
