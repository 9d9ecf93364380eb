import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PluginDefinition } from '@haptic/core/contract';
import { pluginContract } from '@haptic/core/testing';
import { execaNode } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = join(root, 'examples/plugins/no-wildcard-hosts.mjs');

interface Answer {
  readonly verdict?: { readonly kind: string; readonly findings: readonly object[] };
  readonly plugins?: readonly object[];
  readonly error?: { readonly code: string; readonly message: string };
}

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'haptic-operator-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(name: string, text: string): Promise<string> {
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

/** Runs in a process of its own: only there do imports go through Node's own resolution. */
async function judgeHosts(config: string, ...hosts: string[]): Promise<Answer> {
  const script = join(root, 'test/plugins/judge-hosts.ts');
  const { stdout } = await execaNode(script, [config, ...hosts], {
    nodeOptions: ['--conditions=source', '--disable-warning=ExperimentalWarning'],
    cwd: folder,
    timeout: 30_000,
  });
  return JSON.parse(stdout) as Answer;
}

const { default: definition } = (await import(example)) as { readonly default: PluginDefinition };

describe('the example', () => {
  for (const { name, run } of pluginContract(definition, { options: {} })) it(name, run);
});

describe('an operator’s own judge, by path', () => {
  it('is the example of the documentation, to the letter', async () => {
    const documentation = await readFile(join(root, 'docs/plugins.md'), 'utf8');
    expect(documentation).toContain(`\`\`\`js\n${await readFile(example, 'utf8')}\`\`\``);
  });

  it('refuses in its own name, from a folder outside the tree', async () => {
    await cp(example, join(folder, 'no-wildcard-hosts.mjs'));
    const config = await write(
      'haptic.config.yaml',
      'plugins:\n  - use: ./no-wildcard-hosts.mjs\n    options: { allow: ["*.internal.example"] }\n',
    );
    const refused = await judgeHosts(config, 'a.example', '*.example', '*.internal.example');
    expect(refused.verdict).toEqual({
      kind: 'refused',
      findings: [
        {
          judge: 'no-wildcard-hosts',
          phase: 'custom',
          severity: 'error',
          message: 'Ingress shop/web: the host *.example is not allowed',
          objects: [{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name: 'web' }],
        },
      ],
    });
    expect(refused.plugins).toMatchObject([
      {
        name: 'no-wildcard-hosts',
        origin: { use: './no-wildcard-hosts.mjs', from: 'config' },
        hooks: ['validate:custom'],
        options: { allow: ['*.internal.example'] },
      },
    ]);
    const passed = await judgeHosts(config, 'a.example', '*.internal.example');
    expect(passed.verdict).toEqual({ kind: 'passed', findings: [] });
  });

  it('works as a mounted ConfigMap has it, by an absolute path through links', async () => {
    await mkdir(join(folder, '..2030_01_01'));
    await cp(example, join(folder, '..2030_01_01/judge.mjs'));
    await symlink('..2030_01_01', join(folder, '..data'));
    await symlink('..data/judge.mjs', join(folder, 'judge.mjs'));
    const config = await write(
      'host.json',
      JSON.stringify({ plugins: [{ use: join(folder, 'judge.mjs') }] }),
    );
    expect((await judgeHosts(config, '*.example')).verdict?.kind).toBe('refused');
  });

  it('uses the copy of the core that the host runs, whatever lies beside it', async () => {
    await mkdir(join(folder, 'node_modules/@haptic/core'), { recursive: true });
    await write(
      'node_modules/@haptic/core/package.json',
      '{"name":"@haptic/core","exports":{"./contract":"./x.js"}}',
    );
    await write('node_modules/@haptic/core/x.js', 'throw new Error("a second copy was loaded");');
    await cp(example, join(folder, 'judge.mjs'));
    const config = await write('haptic.config.yaml', 'plugins: [{ use: ./judge.mjs }]\n');
    expect((await judgeHosts(config, '*.example')).verdict?.kind).toBe('refused');
  });

  it.each<[string, string, string, string]>([
    [
      'a misspelt option, with its place',
      'plugins:\n  - use: ./judge.mjs\n    options:\n      alow: []\n',
      'PLUGIN_OPTIONS',
      'haptic.config.yaml:4:7: unknown key "alow", did you mean "allow"?',
    ],
    [
      'a path that does not exist',
      'plugins: [{ use: ./juge.mjs }]',
      'PLUGIN_IMPORT',
      'is its volume mounted?',
    ],
    [
      'a package that is not installed',
      'plugins: [{ use: no-such-judge }]',
      'PLUGIN_IMPORT',
      'no such package',
    ],
    [
      'a module that throws',
      'plugins: [{ use: ./throws.mjs }]',
      'PLUGIN_IMPORT',
      'cannot be imported: not today',
    ],
    [
      'a module without a plugin',
      'plugins: [{ use: ./empty.mjs }]',
      'PLUGIN_API',
      'has no default export made by',
    ],
    [
      'one plugin twice',
      'plugins: [{ use: ./judge.mjs }, { use: ./judge.mjs }]',
      'PLUGIN_ORDER',
      'is listed twice in',
    ],
  ])('refuses %s', async (_, text, code, message) => {
    await cp(example, join(folder, 'judge.mjs'));
    await write('throws.mjs', 'throw new Error("not today");');
    await write('empty.mjs', '');
    const { error } = await judgeHosts(await write('haptic.config.yaml', text));
    expect(error).toEqual({ code, message: expect.stringContaining(message) as string });
  });
});
