import type { FileEntry, RenderPlan } from '../../contract/index.ts';
import { compareCrtList } from './crt-lists.ts';
import { lookup } from './lookup.ts';
import { compareMap } from './maps.ts';
import type { Steps } from './steps.ts';
import { TlsFiles } from './tls-files.ts';
import { changeOf, compareSorted, differing } from '../window.ts';

function sameFile(a: FileEntry, b: FileEntry): boolean {
  return (
    a === b ||
    (a.digest === b.digest && a.path === b.path && a.kind === b.kind && a.reloadOnChange === b.reloadOnChange)
  );
}

export function differingFiles(
  next: RenderPlan,
  before: RenderPlan,
): ReturnType<typeof differing<FileEntry>> {
  return differing(next.files, before.files, sameFile);
}

/** Files of the window whose content the pod has not got. */
export function missingFiles({ next, before }: ReturnType<typeof differingFiles>): readonly FileEntry[] {
  const present = new Map(before.map(({ path, digest }) => [path, digest]));
  return next.filter(({ path, digest }) => present.get(path) !== digest);
}

/** What is known by its content only; of the others the plan knows more. */
function compareWhole(next: FileEntry | undefined, before: FileEntry | undefined, steps: Steps): void {
  const { kind, path } = (next ?? before)!;
  const reason = `${kind}_${changeOf(next, before)}:${path}`;
  const isRead = (next ?? before)!.reloadOnChange;
  if (isRead && next?.digest !== before?.digest) steps.reload(reason);
  else steps.note(reason);
}

/** What the files beside the main configuration say; that one is told of by its sections. */
export function compareFiles(
  window: ReturnType<typeof differingFiles>,
  next: RenderPlan,
  before: RenderPlan,
  steps: Steps,
): void {
  const tls = new TlsFiles(next, before, steps);
  compareSorted(
    window,
    ({ path }) => path,
    sameFile,
    (now, old) => {
      const { kind, path } = (now ?? old)!;
      const map = lookup(next.maps, path);
      const mapBefore = lookup(before.maps, path);
      const list = lookup(next.crtLists, path);
      const listBefore = lookup(before.crtLists, path);
      if (kind === 'config') return;
      if (map !== undefined && mapBefore !== undefined) compareMap(path, map, mapBefore, steps);
      else if (list !== undefined && listBefore !== undefined) compareCrtList(path, list, listBefore, steps);
      else if (kind === 'certificate') tls.certificate(path, now, old);
      else if (kind === 'ca') tls.ca(path, now, old);
      else compareWhole(now, old, steps);
    },
  );
  tls.mentions();
}
