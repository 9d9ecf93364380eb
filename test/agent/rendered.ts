import type { FileKind, Rendered, RenderPlan } from '@haptic/core/contract';
import { fileOf, planIdOf, sha256, type Files } from './plan.ts';

/** What a render of these files would be, as far as agents are concerned. */
export function renderedOf(files: Files, binds: readonly string[] = []): Rendered {
  const entries = Object.entries(files)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, content]) => {
      const { digest, size, kind, reloadOnChange } = fileOf(path, content);
      return { path, digest, size, kind: kind as FileKind, reloadOnChange };
    });
  const plan: RenderPlan = {
    schema: 1,
    id: planIdOf(files),
    releaseId: sha256(planIdOf(files)),
    textId: /^ {4}setenv HAPTIC_TEXT (\S+)$/m.exec(files['haproxy.cfg'] ?? '')?.[1] ?? '',
    sections: [],
    profiles: {},
    backends: {},
    maps: {},
    crtLists: {},
    certificates: {},
    caFiles: {},
    binds: binds.map((address) => ({ address })),
    files: entries,
    k8sResources: [],
    statuses: [],
    events: [],
  };
  const read = (path: string): Uint8Array => Buffer.from(files[path] ?? '');
  return { plan, files: { entries, read }, locate: () => undefined };
}
