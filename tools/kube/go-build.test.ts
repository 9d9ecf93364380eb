import { execa } from 'execa';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { installedTool, installFromModules } from './go-build.ts';
import { etcd, type Program } from './programs.ts';

const hasGo = !(await execa('go', ['version'], { reject: false })).failed;
const minutes = 180_000;

const source = `package main
import "fmt"
var version = "unset"
func main() { fmt.Println("made", version) }
`;

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-go-'));
  vi.stubEnv('HAPTIC_CACHE', join(folder, 'cache'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

/** A program of two lines, so that its build takes seconds. */
async function smallProgram(text = source): Promise<Program> {
  const directory = join(folder, 'module');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'go.mod'), 'module small.test/small\n\ngo 1.21\n');
  await writeFile(join(directory, 'main.go'), text);
  return {
    ...etcd,
    directory,
    requires: 'small.test/small',
    main: 'small.test/small',
    versionVariables: ['main'],
    versionArgs: [],
    versionPattern: /^made v(\S+)/m,
  };
}

function run(log: string[] = []) {
  return { log: (line: string) => void log.push(line), signal: undefined };
}

describe.skipIf(!hasGo)(`builds with Go${hasGo ? '' : ' (there is none)'}`, () => {
  test(
    'two that want the same wait for one build, which knows its version',
    { timeout: minutes },
    async () => {
      const program = await smallProgram();
      expect(await installedTool(program, '1.2.3')).toBeUndefined();
      const log: string[] = [];
      const [one, two] = await Promise.all([1, 2].map(() => installFromModules(run(log), program, '1.2.3')));
      expect(one).toBe(two);
      expect(log.filter((line) => line.startsWith('built'))).toHaveLength(1);
      expect(await installedTool(program, '1.2.3')).toBe(one);
      expect(await installedTool(program, '1.2.4')).toBeUndefined();
      expect((await readdir(join(one ?? '', '..'))).sort()).toEqual(['.lock', 'etcd']);
    },
  );

  test('a build that fails says why and leaves no program', { timeout: minutes }, async () => {
    const program = await smallProgram('package main\nfunc main() { nothing() }\n');
    await expect(installFromModules(run(), program, '1.2.3')).rejects.toThrow('undefined: nothing');
    expect(await installedTool(program, '1.2.3')).toBeUndefined();
  });

  test('a program of another version than it should be is not kept', { timeout: minutes }, async () => {
    const program = await smallProgram(source.replace('version)', '"v9")'));
    await expect(installFromModules(run(), program, '1.2.3')).rejects.toThrow('says it is 9, not 1.2.3');
  });
});

test('a build that outlives its runner keeps others from the same', async () => {
  const program = await smallProgram();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const words =
    '[ "$1" = env ] && { echo go1.99; exit; }\necho "locked: $(readlink /proc/self/fd/3)" >&2; exit 1';
  await writeFile(join(bin, 'go'), `#!/bin/sh\n${words}\n`, { mode: 0o755 });
  vi.stubEnv('PATH', `${bin}:${process.env['PATH']}`);
  await expect(installFromModules(run(), program, '1.2.3')).rejects.toThrow(/\.lock/);
});

test('without Go it says so', async () => {
  const program = await smallProgram();
  vi.stubEnv('PATH', '/nonexistent');
  await expect(installFromModules(run(), program, '1.2.3')).rejects.toThrow('go does not run');
});
