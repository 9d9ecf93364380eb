import type { CrtListLine, FileEntry, RenderPlan } from '../../contract/index.ts';
import { linesBeforeEquals, type LineBeforeEqual } from './equal-filters.ts';
import { lookup } from './lookup.ts';
import type { Steps } from './steps.ts';
import { changeOf } from '../window.ts';

type CrtLists = RenderPlan['crtLists'];

function* linesOf(lists: CrtLists): Iterable<CrtListLine> {
  for (const { lines } of Object.values(lists)) yield* lines;
}

function certificatesOf(lists: CrtLists): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { certificate } of linesOf(lists)) found.add(certificate);
  return found;
}

function mentions({ options }: CrtListLine, path: string): boolean {
  return options.split(/\s+/).includes(path);
}

function mentionsCa(lists: CrtLists, path: string): boolean {
  for (const line of linesOf(lists)) if (mentions(line, path)) return true;
  return false;
}

function unless(isNamed: boolean): { readonly ifLoaded?: true } {
  return isNamed ? {} : { ifLoaded: true };
}

function sameLists(next: CrtLists, before: CrtLists): boolean {
  const paths = Object.keys(next);
  return (
    paths.length === Object.keys(before).length &&
    paths.every((path) => next[path]!.digest === lookup(before, path)?.digest)
  );
}

/**
 * Certificates and CA files. The worker has those that lines of crt-lists name, and those that its text names: nothing tells of the
 * latter, so one that no line names comes and goes with a reload, and changes in the worker if it is there.
 */
export class TlsFiles {
  readonly #next: RenderPlan;
  readonly #before: RenderPlan;
  readonly #steps: Steps;
  #names: readonly [next: ReadonlySet<string>, before: ReadonlySet<string>] | undefined;
  #beforeEquals: readonly LineBeforeEqual[] | undefined;

  constructor(next: RenderPlan, before: RenderPlan, steps: Steps) {
    this.#next = next;
    this.#before = before;
    this.#steps = steps;
  }

  certificate(path: string, now: FileEntry | undefined, old: FileEntry | undefined): void {
    const reason = `certificate_${changeOf(now, old)}:${path}`;
    const [named, namedBefore] = this.#namedCertificates();
    if (now === undefined || old === undefined) {
      // One that lines name is seen to by `mentions`.
      if (!(now === undefined ? namedBefore : named).has(path)) this.#steps.reload(reason);
    } else if (now.digest === old.digest) {
      return;
    } else if (this.#isBeforeEqual(({ line, ofAnother }) => ofAnother && line.certificate === path)) {
      this.#steps.reload(reason);
    } else if (named.has(path) === namedBefore.has(path)) {
      this.#steps.run('tls', reason, { op: 'cert.set', path, ...unless(named.has(path)) });
    }
  }

  ca(path: string, now: FileEntry | undefined, old: FileEntry | undefined): void {
    const reason = `ca_${changeOf(now, old)}:${path}`;
    const steps = this.#steps;
    if (now !== undefined && old !== undefined) {
      if (now.digest === old.digest) return;
      const isNamed = mentionsCa(this.#next.crtLists, path);
      if (this.#isBeforeEqual(({ line }) => mentions(line, path))) steps.reload(reason);
      else steps.run('tls', reason, { op: 'ca.set', path, ...unless(isNamed) });
    } else if (!mentionsCa((now === undefined ? this.#before : this.#next).crtLists, path)) {
      steps.reload(reason);
    } else if (now === undefined) {
      steps.run('tls-gone', reason, { op: 'ca.del', path });
    } else {
      steps.run('tls', reason, { op: 'ca.add', path });
    }
  }

  /** Certificates that lines begin to name, or no longer name. */
  mentions(): void {
    if (sameLists(this.#next.crtLists, this.#before.crtLists)) return;
    const [now, old] = this.#namedCertificates();
    for (const path of now) {
      if (!old.has(path)) this.#steps.run('tls', `certificate_added:${path}`, { op: 'cert.add', path });
    }
    for (const path of old) {
      if (!now.has(path))
        this.#steps.run('tls-gone', `certificate_removed:${path}`, { op: 'cert.del', path });
    }
  }

  #isBeforeEqual(condition: (entry: LineBeforeEqual) => boolean): boolean {
    this.#beforeEquals ??= linesBeforeEquals(this.#next.crtLists);
    return this.#beforeEquals.some(condition);
  }

  #namedCertificates(): readonly [next: ReadonlySet<string>, before: ReadonlySet<string>] {
    this.#names ??= [certificatesOf(this.#next.crtLists), certificatesOf(this.#before.crtLists)];
    return this.#names;
  }
}
