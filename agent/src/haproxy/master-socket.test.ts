import { expect, test } from 'vitest';
import { parseProcesses, parseReload } from './master-socket.ts';

const rows = (
  master: string,
): string => `#<PID>          <type>          <reloads>       <uptime>        <version>
${master}
# workers
24269           worker          0               0d00h00m00s     3.4.7-1
# old workers
24266           worker          1               0d00h00m00s     3.4.7-1
# programs

`;

test('reads the processes of all versions', () => {
  expect(
    parseProcesses(rows('22113           master          25 [failed: 0]  0d00h03m34s     3.4.7-1')),
  ).toEqual({
    master: 22113,
    reloads: 25,
    failed: false,
    workers: [24269, 24266],
  });
  expect(parseProcesses(rows('7  master  3 [failed: 1]  0d00h03m34s  3.0.11-1+deb13u4'))).toMatchObject({
    failed: true,
  });
  expect(parseProcesses('')).toBeUndefined();
});

test('a reload has succeeded only when HAProxy says so', () => {
  expect(parseReload('Success=1\n--\n[NOTICE] (1) : Loading success.\n')).toEqual({ kind: 'loaded' });
  const log = '[NOTICE] (1) : Reloading\n[WARNING] (1) : hm\n[ALERT] (2) : config : unknown keyword\n';
  expect(parseReload(`Success=0\n--\n${log}\n`)).toEqual({
    kind: 'refused',
    words: '[ALERT] (2) : config : unknown keyword',
  });
  expect(parseReload('Success=0\n--\n[WARNING] (1) : only this\n')).toMatchObject({
    words: '[WARNING] (1) : only this',
  });
  expect(parseReload('Success=0\n--\nAnother reload is still in progress.\n\n')).toEqual({ kind: 'busy' });
  for (const text of ['', 'Success=', 'Success=2\n', ' Success=1\n', 'Success=11\n']) {
    expect(parseReload(text), text).toEqual({ kind: 'garbled' });
  }
});
