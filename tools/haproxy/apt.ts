import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { command, type Run } from '../cache/command.ts';
import { findMirror, libraryDependencies, parseMadison } from './debian-index.ts';

const keyrings = [
  '/usr/share/keyrings/debian-archive-keyring.gpg',
  '/usr/share/keyrings/debian-archive-keyring.pgp',
];

/** Used where the machine's own sources name no archive. Plain HTTP: packages are signed, and a bare system has no CA files. */
const defaultMirror = 'http://deb.debian.org/debian';

/**
 * apt with a state of its own in a folder: reads the system's settings (proxies) and keyring, and changes nothing of the
 * system. Every package is verified against its signed index.
 */
export class PrivateApt {
  readonly #run: Run;
  readonly #directory: string;
  readonly #keyring: string;
  readonly #mirror: string;

  private constructor(run: Run, directory: string, keyring: string, mirror: string) {
    this.#run = run;
    this.#directory = directory;
    this.#keyring = keyring;
    this.#mirror = mirror;
  }

  static async open(run: Run, directory: string): Promise<PrivateApt> {
    await mkdir(join(directory, 'lists', 'partial'), { recursive: true });
    await mkdir(join(directory, 'cache', 'archives', 'partial'), { recursive: true });
    return new PrivateApt(run, directory, await findKeyring(), (await systemMirror(run)) ?? defaultMirror);
  }

  /** Reads the indexes of these suites; later calls speak about them only. */
  async select(suites: readonly string[]): Promise<void> {
    const lines = suites.map((suite) => `deb [signed-by=${this.#keyring}] ${this.#mirror} ${suite} main\n`);
    await writeFile(join(this.#directory, 'sources.list'), lines.join(''));
    await this.#apt('apt-get', ['update']);
  }

  async versions(name: string): Promise<readonly string[]> {
    return parseMadison(await this.#apt('apt-cache', ['madison', name]));
  }

  /** The packages and, transitively, the libraries they need, each as apt wants it named: `name` or `name=version`. */
  async withLibraries(packages: readonly string[]): Promise<readonly string[]> {
    const wanted = new Map<string, string>();
    const queue = [...packages];
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) {
      const name = item.replace(/=.*/, '');
      if (wanted.has(name)) continue;
      wanted.set(name, item);
      queue.push(...libraryDependencies(await this.#apt('apt-cache', ['show', '--no-all-versions', item])));
    }
    return [...wanted.values()];
  }

  /** Downloads into a folder; what an earlier, interrupted call left there whole is not fetched again. */
  async download(packages: readonly string[], folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
    await this.#apt('apt-get', ['download', ...packages], folder);
  }

  #apt(program: string, args: readonly string[], cwd?: string): Promise<string> {
    return command(this.#run, program, [...this.#options(), ...args], cwd === undefined ? {} : { cwd });
  }

  #options(): readonly string[] {
    const settings = [
      `Dir::Etc::sourcelist=${join(this.#directory, 'sources.list')}`,
      'Dir::Etc::sourceparts=/dev/null',
      'Dir::Etc::preferences=/dev/null',
      'Dir::Etc::preferencesparts=/dev/null',
      `Dir::State::lists=${join(this.#directory, 'lists')}`,
      'Dir::State::status=/dev/null',
      `Dir::Cache=${join(this.#directory, 'cache')}`,
      'Dir::Cache::pkgcache=pkgcache.bin',
      'Dir::Cache::srcpkgcache=srcpkgcache.bin',
      'APT::Sandbox::User=',
      'APT::Update::Error-Mode=any',
      'Acquire::Languages=none',
      'Acquire::Retries=2',
      'Acquire::http::Timeout=15',
      // A frozen mirror's index is past its date; its signature is checked all the same.
      'Acquire::Check-Valid-Until=false',
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
      'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false',
    ];
    return ['-qq', ...settings.flatMap((setting) => ['-o', setting])];
  }
}

async function findKeyring(): Promise<string> {
  for (const path of keyrings) {
    if (
      await access(path).then(
        () => true,
        () => false,
      )
    )
      return path;
  }
  throw new Error(`no Debian keyring (${keyrings.join(', ')}); the package debian-archive-keyring has it`);
}

async function systemMirror(run: Run): Promise<string | undefined> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(release)?.[1] ?? '';
  const format = '$(REPO_URI) $(RELEASE) $(COMPONENT)';
  return findMirror(
    await command(run, 'apt-get', ['indextargets', '--format', format, 'Created-By: Packages']),
    codename,
  );
}
