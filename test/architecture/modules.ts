import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** One npm package of the workspace. */
export interface Package {
  /** Relative to the root. */
  readonly folder: string;
  readonly name: string;
  readonly dependencies: readonly string[];
}

/** One source file, tests excepted, with what it imports. */
export interface Module {
  /** Relative to the root. */
  readonly path: string;
  readonly folder: string;
  /** Without comments. */
  readonly code: string;
  /** As written, type imports included. */
  readonly imports: readonly string[];
  /** Those that are still there when it runs. */
  readonly runtimeImports: readonly string[];
}

interface Manifest {
  readonly name: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}

export function packages(): Package[] {
  const { workspaces = [] } = readJson('package.json') as Manifest;
  return workspaces
    .flatMap((pattern) => globSync(`${pattern}/package.json`, { cwd: root }))
    .map((path): Package => {
      const { name, dependencies = {} } = readJson(path) as Manifest;
      return { folder: dirname(path), name, dependencies: Object.keys(dependencies) };
    });
}

/** What the tools and tests of the workspace may import. */
export function developmentDependencies(): string[] {
  return Object.keys((readJson('package.json') as Manifest).devDependencies ?? {});
}

export function modules(): Module[] {
  return packages().flatMap(({ folder }) =>
    globSync(`${folder}/src/**/*.ts`, { cwd: root })
      .filter((path) => !/\.(test|bench|soak|fuzz)\.ts$|\.d\.ts$/.test(path))
      .map((path) => {
        const code = withoutComments(readFileSync(join(root, path), 'utf8'));
        return { path, folder, code, imports: importsOf(code), runtimeImports: importsOf(code, true) };
      }),
  );
}

/** Where a relative import leads, relative to the root; undefined for a package. */
export function target(module: Module, specifier: string): string | undefined {
  return specifier.startsWith('.') ? normalize(join(dirname(module.path), specifier)) : undefined;
}

/** `@scope/name` or `name` of `name/inside`. */
export function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Good enough for formatted code: no source of ours holds an import in a text. */
function importsOf(code: string, onlyRuntime = false): string[] {
  const statements =
    /^(?:import|export)(\s+type\b)?[^;'"]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]/gm;
  const calls = /\bimport\(\s*['"]([^'"]+)['"]/g;
  const found = Array.from(code.matchAll(statements)).filter(
    ([, type]) => !onlyRuntime || type === undefined,
  );
  return [
    ...found.map(([, , from, bare]) => from ?? bare!),
    ...Array.from(code.matchAll(calls), ([, called]) => called!),
  ];
}

function withoutComments(code: string): string {
  return code.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}
