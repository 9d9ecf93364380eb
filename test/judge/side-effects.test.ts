import { access, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { runtimeCommand } from '../haproxy/runtime-command.ts';
import { startHaproxy } from '../haproxy/start-haproxy.ts';
import { tempDir } from '../haproxy/temp-dir.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { validConfig } from './config.ts';
import { renderedFiles } from './file-set.ts';
import { startJudge } from './start-judge.ts';

const never = new AbortController().signal;

forEachVersion(({ binary }) => {
  test('a running HAProxy keeps its socket, its port and its file', async () => {
    const dir = await tempDir();
    const port = await freePort();
    const socket = join(dir, 'worker.sock');
    const config = `global
  stats socket ${socket} mode 600 level admin
defaults base
  mode http
  timeout client 1s
  timeout connect 1s
  timeout server 1s
frontend in from base
  bind 127.0.0.1:${port}
  http-request return status 200 content-type text/plain string live
`;
    await writeFile(join(dir, 'haproxy.cfg'), config);
    await startHaproxy({ binary, dir, ports: [port] });
    const before = await stat(socket);
    const { judge } = await startJudge(binary);
    expect(await judge.judge(renderedFiles({ 'haproxy.cfg': config }), never)).toEqual([]);
    expect((await stat(socket)).ino).toBe(before.ino);
    expect(await runtimeCommand(socket, 'show info')).toContain('Name: HAProxy');
    expect((await request(port)).body.toString()).toBe('live');
  });

  test('a socket and a pid file of a judged configuration are not made', async () => {
    const dir = await tempDir();
    const global = `  stats socket ${dir}/never.sock\n  pidfile ${dir}/never.pid`;
    const { judge } = await startJudge(binary);
    expect(await judge.judge(renderedFiles({ 'haproxy.cfg': validConfig({ global }) }), never)).toEqual([]);
    await expect(access(join(dir, 'never.sock'))).rejects.toThrow('ENOENT');
    await expect(access(join(dir, 'never.pid'))).rejects.toThrow('ENOENT');
  });

  /** HAProxy runs Lua while it checks: what a script does to its files must not reach the next check. */
  test('a script that writes to the files it is judged with changes no later verdict', async () => {
    const frontend = '  http-request set-var(txn.a) path,map_str_int(maps/a.map)';
    const map = { 'maps/a.map': '/ 1\n' };
    const global = '  tune.lua.bool-sample-conversion normal\n  lua-load files/spoil.lua';
    const spoiling = renderedFiles({
      ...map,
      'haproxy.cfg': validConfig({
        global: binary.includes('3.0') ? '  lua-load files/spoil.lua' : global,
        frontend,
      }),
      'files/spoil.lua': `os.execute("chmod u+w maps/a.map")
local file = io.open("maps/a.map", "w")
file:write("/ not-a-number\\n")
file:close()
`,
    });
    const { judge } = await startJudge(binary);
    expect(await judge.judge(spoiling, never)).toMatchObject([
      { severity: 'error', path: 'maps/a.map', line: 1 },
    ]);
    const honest = renderedFiles({ ...map, 'haproxy.cfg': validConfig({ frontend }) });
    expect(await judge.judge(honest, never)).toEqual([]);
  });
});
