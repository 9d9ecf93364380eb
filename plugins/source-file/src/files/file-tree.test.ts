import { execFile } from 'node:child_process';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  rename,
  rm,
  symlink,
  truncate,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refused } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog, type MemoryLog } from '@haptic/core/testing';
import { FileTree } from './file-tree.ts';
import type { Root } from './list-files.ts';

let dir: string;
let log: MemoryLog;
let stop: AbortController;
let following: Promise<void>;
let changes: number;

/** Takes any text but `bad…`. */
function parse(path: string, text: string): Promise<string> {
  if (text.startsWith('bad')) throw new Refused([{ where: `${path}:1:1`, message: text }]);
  return Promise.resolve(text);
}

function makeTree(roots: readonly Root[] = [{ kind: 'folder', path: dir }]): FileTree<string> {
  return new FileTree<string>({ roots, watch: true, parse, log, clock: systemClock });
}

async function follow(tree: FileTree<string>): Promise<FileTree<string>> {
  await tree.start(stop.signal);
  following = tree.follow(() => changes++, stop.signal);
  return tree;
}

function contents(tree: FileTree<string>): Record<string, string> {
  return Object.fromEntries(
    [...tree.values()].map(([path, { value }]) => [path.slice(dir.length + 1), value]),
  );
}

function said(level: string, message: string): readonly unknown[] {
  return log.records.filter((r) => r.level === level && r.message === message).map(({ fields }) => fields);
}

const soon = { timeout: 3000, interval: 2 };
async function becomes(tree: FileTree<string>, expected: Record<string, string>): Promise<void> {
  await vi.waitFor(() => expect(contents(tree)).toEqual(expected), soon);
}

/** Until everything that was done before has been seen: a file of its own appears and is seen. */
async function caughtUp(tree: FileTree<string>): Promise<void> {
  const mark = join(dir, 'mark.yaml');
  await writeFile(mark, 'mark');
  await vi.waitFor(() => expect(contents(tree)['mark.yaml']).toBe('mark'), soon);
  await unlink(mark);
  await vi.waitFor(() => expect(contents(tree)['mark.yaml']).toBeUndefined(), soon);
}

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'source-file-'));
  log = memoryLog();
  stop = new AbortController();
  following = Promise.resolve();
  changes = 0;
});

afterEach(async () => {
  stop.abort();
  await following;
  await rm(dir, { recursive: true, force: true });
});

describe('at the start', () => {
  it('reads what has our extensions, in all folders, but nothing hidden', async () => {
    await mkdir(join(dir, 'a/b/.git'), { recursive: true });
    await Promise.all(
      ['a/b/1.yaml', 'a/2.yml', '3.json', 'README.md', '.hidden.yaml', 'a/b/.git/x.yaml', '4.yaml~'].map(
        (name) => writeFile(join(dir, name), name),
      ),
    );
    const tree = makeTree();
    await tree.start(stop.signal);
    expect(contents(tree)).toEqual({ '3.json': '3.json', 'a/2.yml': 'a/2.yml', 'a/b/1.yaml': 'a/b/1.yaml' });
    expect([...tree.values().keys()]).toEqual(
      ['3.json', 'a/2.yml', 'a/b/1.yaml'].map((name) => join(dir, name)),
    );
  });

  it('refuses a folder that is not there, or is none', async () => {
    await writeFile(join(dir, 'file'), '');
    const tree = makeTree([
      { kind: 'folder', path: join(dir, 'nowhere') },
      { kind: 'folder', path: join(dir, 'file') },
      { kind: 'file', path: join(dir, 'nothing.yaml') },
      { kind: 'file', path: dir },
    ]);
    await expect(tree.start(stop.signal)).rejects.toThrow(
      new Refused([
        { where: join(dir, 'nowhere'), message: 'does not exist' },
        { where: join(dir, 'file'), message: 'is not a folder' },
        { where: join(dir, 'nothing.yaml'), message: 'does not exist' },
        { where: dir, message: 'is not a file' },
      ]),
    );
  });

  it('says what it passes over', async () => {
    await promisify(execFile)('mkfifo', [join(dir, 'pipe.yaml')]);
    await symlink(dir, join(dir, 'again'));
    await symlink(join(dir, 'nowhere'), join(dir, 'dangling.yaml'));
    const server = createServer().listen(join(dir, 'socket'));
    await vi.waitFor(() => expect(server.listening).toBe(true), soon);
    await makeTree().start(stop.signal);
    server.close();
    expect(
      said('warn', 'passed over').toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    ).toEqual([
      { path: join(dir, 'again'), why: 'a link to a folder that it is in' },
      { path: join(dir, 'pipe.yaml'), why: 'neither a file nor a folder' },
      { path: join(dir, 'socket'), why: 'neither a file nor a folder' },
    ]);
  });

  it('refuses files that are too large or no text, and reads the others', async () => {
    await writeFile(join(dir, 'large.yaml'), '');
    await truncate(join(dir, 'large.yaml'), 16 * 1024 * 1024 + 1);
    await writeFile(join(dir, 'binary.yaml'), Buffer.from([0xff, 0xfe, 0x00]));
    await writeFile(join(dir, 'good.yaml'), '\uFEFFgood');
    const tree = makeTree();
    await tree.start(stop.signal);
    expect(contents(tree)).toEqual({ 'good.yaml': 'good' });
    expect(tree.unread().map(({ message }) => message)).toEqual([
      'not UTF-8 text',
      '16777217 bytes are too many: the largest file that is read has 16777216',
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('refuses a file that may not be read', async () => {
    await writeFile(join(dir, 'secret.yaml'), 'x', { mode: 0o000 });
    const tree = makeTree();
    await tree.start(stop.signal);
    expect(tree.unread()[0]!.message).toMatch(/EACCES/);
  });
});

describe('afterwards', () => {
  it('sees files come, change and go', async () => {
    const tree = await follow(makeTree());
    await writeFile(join(dir, 'a.yaml'), 'one');
    await becomes(tree, { 'a.yaml': 'one' });
    await writeFile(join(dir, 'a.yaml'), 'two');
    await becomes(tree, { 'a.yaml': 'two' });
    await appendFile(join(dir, 'a.yaml'), '!');
    await becomes(tree, { 'a.yaml': 'two!' });
    await unlink(join(dir, 'a.yaml'));
    await becomes(tree, {});
  });

  it('sees a file that is renamed into place, and one that is renamed', async () => {
    await writeFile(join(dir, 'a.yaml'), 'one');
    const tree = await follow(makeTree());
    await writeFile(join(dir, '.a.tmp'), 'two');
    await rename(join(dir, '.a.tmp'), join(dir, 'a.yaml'));
    await becomes(tree, { 'a.yaml': 'two' });
    await rename(join(dir, 'a.yaml'), join(dir, 'b.yaml'));
    await becomes(tree, { 'b.yaml': 'two' });
  });

  it('sees a file of equal length and time that is another one', async () => {
    await writeFile(join(dir, 'a.yaml'), 'one');
    const tree = await follow(makeTree());
    await promisify(execFile)(
      'sh',
      ['-c', 'cp -p a.yaml .b; printf two > .b; touch -r a.yaml .b; mv .b a.yaml'],
      { cwd: dir },
    );
    await becomes(tree, { 'a.yaml': 'two' });
  });

  it('sees whole folders come and go, with files that were in them at once', async () => {
    const tree = await follow(makeTree());
    for (let round = 0; round < 5; round++) {
      await mkdir(join(dir, 'x/y/z'), { recursive: true });
      await writeFile(join(dir, 'x/y/z/a.yaml'), `round ${round}`);
      await becomes(tree, { 'x/y/z/a.yaml': `round ${round}` });
      await writeFile(join(dir, 'x/y/z/a.yaml'), 'again');
      await becomes(tree, { 'x/y/z/a.yaml': 'again' });
      await rm(join(dir, 'x'), { recursive: true });
      await becomes(tree, {});
    }
  });

  it('follows a mounted ConfigMap, whose link is swapped', async () => {
    const put = async (generation: string, text: string): Promise<void> => {
      await mkdir(join(dir, `..${generation}`));
      await writeFile(join(dir, `..${generation}/a.yaml`), text);
      await symlink(`..${generation}`, join(dir, '..data_tmp'));
      await rename(join(dir, '..data_tmp'), join(dir, '..data'));
    };
    await put('1', 'one');
    await symlink('..data/a.yaml', join(dir, 'a.yaml'));
    const tree = await follow(makeTree());
    expect(contents(tree)).toEqual({ 'a.yaml': 'one' });
    await put('2', 'two');
    await rm(join(dir, '..1'), { recursive: true });
    await becomes(tree, { 'a.yaml': 'two' });
  });

  it('follows a link to a file elsewhere', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'source-file-'));
    try {
      await writeFile(join(elsewhere, 'real'), 'one');
      await symlink(join(elsewhere, 'real'), join(dir, 'a.yaml'));
      const tree = await follow(makeTree());
      await writeFile(join(elsewhere, 'real'), 'two');
      await becomes(tree, { 'a.yaml': 'two' });
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });

  it('follows a single file', async () => {
    await writeFile(join(dir, 'a.yaml'), 'one');
    await writeFile(join(dir, 'other.yaml'), 'other');
    const tree = await follow(makeTree([{ kind: 'file', path: join(dir, 'a.yaml') }]));
    await writeFile(join(dir, '.tmp'), 'two');
    await rename(join(dir, '.tmp'), join(dir, 'a.yaml'));
    await becomes(tree, { 'a.yaml': 'two' });
  });

  it('keeps the last good content of a broken file, says so once and that it is mended', async () => {
    await writeFile(join(dir, 'a.yaml'), 'good');
    const tree = await follow(makeTree());
    const refused = () => said('error', 'file is refused, its last good content stays');
    await writeFile(join(dir, 'a.yaml'), 'bad one');
    await vi.waitFor(() => expect(refused()).toHaveLength(1), soon);
    await promisify(execFile)('touch', [join(dir, 'a.yaml')]);
    await caughtUp(tree);
    expect(refused()).toHaveLength(1);
    expect(contents(tree)).toEqual({ 'a.yaml': 'good' });
    await writeFile(join(dir, 'a.yaml'), 'bad two');
    await vi.waitFor(() => expect(refused()).toHaveLength(2), soon);
    await writeFile(join(dir, 'a.yaml'), 'better');
    await becomes(tree, { 'a.yaml': 'better' });
    expect(said('warn', 'file is right again')).toEqual([{ path: join(dir, 'a.yaml') }]);
    expect(refused()).toEqual([
      { path: join(dir, 'a.yaml'), problem: `${join(dir, 'a.yaml')}:1:1: bad one` },
      { path: join(dir, 'a.yaml'), problem: `${join(dir, 'a.yaml')}:1:1: bad two` },
    ]);
  });

  it('does not read what is still being written', async () => {
    await writeFile(join(dir, 'a.yaml'), 'old');
    const seen = new Set<string>();
    const tree = makeTree();
    await tree.start(stop.signal);
    following = tree.follow(() => seen.add(contents(tree)['a.yaml']!), stop.signal);
    const handle = await open(join(dir, 'a.yaml'), 'w');
    for (let piece = 0; piece < 20; piece++) {
      await handle.write('0123456789');
      // The next piece comes while the file is still young, as from a slow writer.
      await systemClock.sleep(2);
    }
    await handle.close();
    const whole = '0123456789'.repeat(20);
    await becomes(tree, { 'a.yaml': whole });
    expect([...seen]).toEqual([whole]);
  });

  it('reads a file all the same that never comes to rest', async () => {
    const tree = await follow(makeTree());
    const writing = new AbortController();
    const writer = (async () => {
      for (let i = 0; !writing.signal.aborted && i < 3000; i++) {
        await appendFile(join(dir, 'log.yaml'), 'x');
        await systemClock.sleep(1);
      }
    })();
    try {
      await vi.waitFor(() => expect(contents(tree)['log.yaml']).toMatch(/^x+$/), soon);
    } finally {
      writing.abort();
      await writer;
    }
  });

  it('takes an emptied file for one that is being saved, at first', async () => {
    await writeFile(join(dir, 'a.yaml'), 'old');
    const tree = await follow(makeTree());
    for (let save = 0; save < 5; save++) {
      await truncate(join(dir, 'a.yaml'), 0);
      await systemClock.sleep(10);
      expect(contents(tree)['a.yaml']).not.toBe('');
      await writeFile(join(dir, 'a.yaml'), `save ${save}`);
      await becomes(tree, { 'a.yaml': `save ${save}` });
    }
    await truncate(join(dir, 'a.yaml'), 0);
    await becomes(tree, { 'a.yaml': '' });
  });

  it('takes a file that is gone for one that is being replaced, at first', async () => {
    await writeFile(join(dir, 'a.yaml'), 'old');
    const tree = await follow(makeTree());
    const states: (string | undefined)[] = [];
    for (let save = 0; save < 5; save++) {
      await unlink(join(dir, 'a.yaml'));
      await systemClock.sleep(12);
      states.push(contents(tree)['a.yaml']);
      await writeFile(join(dir, 'a.yaml'), `save ${save}`);
      await becomes(tree, { 'a.yaml': `save ${save}` });
    }
    expect(states).toEqual(['old', 'save 0', 'save 1', 'save 2', 'save 3']);
  });

  it('keeps everything of a folder that vanishes as a whole, and goes on when it is back', async () => {
    const root = join(dir, 'mount');
    await mkdir(root);
    await writeFile(join(root, 'a.yaml'), 'one');
    const tree = await follow(makeTree([{ kind: 'folder', path: root }]));
    await rename(root, join(dir, 'elsewhere'));
    await vi.waitFor(
      () =>
        expect(said('error', 'source cannot be read, what it last held stays')).toEqual([
          { path: root, why: 'does not exist' },
        ]),
      soon,
    );
    expect(contents(tree)).toEqual({ 'mount/a.yaml': 'one' });
    await mkdir(root);
    await writeFile(join(root, 'a.yaml'), 'two');
    await vi.waitFor(() => expect(contents(tree)).toEqual({ 'mount/a.yaml': 'two' }), {
      timeout: 9000,
      interval: 10,
    });
    await writeFile(join(root, 'a.yaml'), 'three');
    await becomes(tree, { 'mount/a.yaml': 'three' });
    expect(said('warn', 'no longer passed over')).toEqual([{ path: root }]);
  });

  it.skipIf(process.getuid?.() === 0)(
    'keeps the content of a folder that may no longer be read',
    async () => {
      await mkdir(join(dir, 'x'));
      await writeFile(join(dir, 'x/a.yaml'), 'one');
      const tree = await follow(makeTree());
      await chmod(join(dir, 'x'), 0o000);
      try {
        await vi.waitFor(() => expect(said('warn', 'passed over')).toHaveLength(1), soon);
        expect(contents(tree)).toEqual({ 'x/a.yaml': 'one' });
      } finally {
        await chmod(join(dir, 'x'), 0o700);
      }
    },
  );

  it('ends with the signal, whatever it is doing', async () => {
    const tree = await follow(makeTree());
    await writeFile(join(dir, 'a.yaml'), 'one');
    stop.abort();
    await following;
    const before = changes;
    await writeFile(join(dir, 'a.yaml'), 'two');
    await systemClock.sleep(30);
    expect(changes).toBe(before);
    expect(contents(tree)['a.yaml']).not.toBe('two');
  });

  it('ends up with what is there, whatever happened on the way', async () => {
    const tree = await follow(makeTree());
    const expected: Record<string, string> = {};
    for (let step = 0; step < 200; step++) {
      const name = `${'abc'[step % 3]}/${step % 7}.yaml`;
      await mkdir(join(dir, name[0]!), { recursive: true });
      if (step % 5 === 4) {
        await rm(join(dir, name), { force: true });
        delete expected[name];
      } else if (step % 11 === 10) {
        await rm(join(dir, name[0]!), { recursive: true });
        for (const key of Object.keys(expected)) if (key.startsWith(name[0]!)) delete expected[key];
      } else {
        await writeFile(join(dir, name), `step ${step}`);
        expected[name] = `step ${step}`;
      }
    }
    await becomes(tree, expected);
  });
});
