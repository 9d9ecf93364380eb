import { describe, expect, it } from 'vitest';
import { Refused, type JsonObject } from '@haptic/core/contract';
import { readDocuments } from '../yaml/documents.ts';
import { assemble } from './assemble.ts';
import { readConfigFile, type ConfigDocument } from './read-config-file.ts';

async function read(path: string, text: string): Promise<readonly ConfigDocument[]> {
  return readConfigFile(path, await readDocuments(path, text));
}

async function problemsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Refused) return error.problems.map(({ where, message }) => `${where}: ${message}`);
    throw error;
  }
  return [];
}

const object = (kind: string, name: string, spec: string) =>
  `apiVersion: haproxy-haptic.org/v1alpha1\nkind: ${kind}\nmetadata:\n  name: ${name}\nspec: ${spec}\n`;
const config = (spec: string) => object('HAProxyTemplateConfig', 'main', spec);
const library = (name: string, revision: string) =>
  object('HAProxyTemplateLibrary', name, `{revision: ${revision}}`);

const bare = 'templateSnippets:\n  s:\n    template: |\n      text\n';

describe('readConfigFile', () => {
  it('takes a bare file for a library of its name', async () => {
    const [document] = await read('some/where/base.yaml', bare);
    expect(document!.source).toMatchObject({
      kind: 'library',
      name: 'base',
      spec: { templateSnippets: { s: { template: 'text\n' } } },
    });
    expect(document!.source.locate!(['templateSnippets', 's', 'template'])).toEqual({
      file: 'some/where/base.yaml',
      line: 4,
      column: 7,
    });
  });

  it('takes objects as they are, several in a file', async () => {
    const documents = await read(
      'f.yaml',
      `${library('a', '"1"')}---\n${config('{settings: {x: 1}, libraryRefs: [{name: a, revision: "1"}]}')}`,
    );
    expect(documents.map(({ source, revision, refs }) => [source.kind, source.name, revision, refs])).toEqual(
      [
        ['library', 'a', '1', []],
        ['config', 'main', undefined, [{ name: 'a', revision: '1' }]],
      ],
    );
    expect(documents[1]!.source.locate!(['settings', 'x'])).toEqual({ file: 'f.yaml', line: 11, column: 22 });
  });

  it.each([
    [
      'apiVersion: haproxy-haptic.org/v1\nkind: HAProxyTemplateConfg\n',
      [
        'f.yaml:2:7: expected kind HAProxyTemplateConfig or HAProxyTemplateLibrary, got "HAProxyTemplateConfg", did you mean "HAProxyTemplateConfig"?',
        'f.yaml:1:13: expected apiVersion haproxy-haptic.org/v1alpha1, got "haproxy-haptic.org/v1"',
        'f.yaml:1:1: expected metadata.name',
      ],
    ],
    [
      `${bare}---\n${bare}`,
      [
        'f.yaml:1:1: expected an object with apiVersion and kind: the spec of a library stands in a file of its own',
        'f.yaml:6:1: expected an object with apiVersion and kind: the spec of a library stands in a file of its own',
      ],
    ],
  ])('refuses %j', async (text, problems) => {
    expect(await problemsOf(() => read('f.yaml', text))).toEqual(problems);
  });
});

describe('assemble', () => {
  async function names(
    shipped: readonly string[],
    folder: Readonly<Record<string, string>>,
    settings: JsonObject = {},
  ) {
    const documents = await Promise.all(shipped.map((name) => read(`ship/${name}.yaml`, bare)));
    const own = await Promise.all(Object.entries(folder).map(([path, text]) => read(path, text)));
    return assemble({ shipped: documents.flat(), folder: own.flat() }, settings);
  }
  const order = async (...args: Parameters<typeof names>) => (await names(...args)).map(({ name }) => name);

  it('goes by the shipped order, the folder’s library and the config after it', async () => {
    expect(await order(['base', 'ingress'], { 'c/own.yaml': bare, 'c/config.yaml': config('{}') })).toEqual([
      'base',
      'ingress',
      'own',
      'main',
    ]);
  });

  it('puts the folder’s copy of a shipped library in its place', async () => {
    const sources = await names(['base', 'ingress'], { 'c/ingress.yaml': bare, 'c/base.yaml': bare });
    expect(sources.map(({ name }) => name)).toEqual(['base', 'ingress', 'default']);
    const files = sources.map((source) => source.locate?.(['templateSnippets'])?.file);
    expect(files.slice(0, 2)).toEqual(['c/base.yaml', 'c/ingress.yaml']);
  });

  it('ends with an empty config where there is none', async () => {
    expect((await names(['base'], {})).at(-1)).toMatchObject({ kind: 'config', name: 'default', spec: {} });
  });

  it('goes by the references of the config, and takes nothing else', async () => {
    const refs = '{libraryRefs: [{name: own, revision: "7"}, {name: base, revision: any}]}';
    expect(
      await order(['base', 'ingress'], { 'own.yaml': library('own', '"7"'), 'c.yaml': config(refs) }),
    ).toEqual(['own', 'base', 'main']);
  });

  it.each([
    [
      {
        'c.yaml': config('{libraryRefs: [{name: bse, revision: "1"}, {name: own, revision: "1"}]}'),
        'own.yaml': library('own', '"2"'),
      },
      [
        'c.yaml:5:29: library "bse" is missing, did you mean "base"?',
        'c.yaml:5:57: library "own" has revision "2" (own.yaml:1:1), not "1"',
      ],
    ],
    [
      { 'a.yaml': bare, 'b.yaml': bare },
      [
        'a.yaml:1:1: the order of the libraries "a", "b" is not known: list all libraries in libraryRefs of an HAProxyTemplateConfig',
      ],
    ],
    [
      { 'x/base.yaml': bare, 'y/base.yaml': bare },
      ['y/base.yaml:1:1: library "base" is already defined at x/base.yaml:1:1'],
    ],
    [
      { 'a.yaml': config('{}'), 'b.yaml': config('{}') },
      ['b.yaml:1:1: config "main" is the second one: "main" is at a.yaml:1:1'],
    ],
  ])('refuses %j', async (folder, problems) => {
    expect(await problemsOf(() => names(['base'], folder))).toEqual(problems);
  });

  it('lays settings over the config’s', async () => {
    const sources = await names(
      ['base'],
      { 'c.yaml': config('{settings: {a: {x: 1, y: 1}}, maps: {}}') },
      { a: { y: 2 }, b: 3 },
    );
    expect(sources.at(-1)!.spec).toEqual({ settings: { a: { x: 1, y: 2 }, b: 3 }, maps: {} });
    expect((await names([], {}, { b: 3 })).at(-1)!.spec).toEqual({ settings: { b: 3 } });
  });

  it.each(['[]', '{settings: 5}'])('leaves the config %s for its schema to refuse', async (spec) => {
    const sources = await names([], { 'c.yaml': config(spec) }, { b: 3 });
    expect(sources.at(-1)!.spec).toEqual(spec === '[]' ? [] : { settings: 5 });
  });
});
