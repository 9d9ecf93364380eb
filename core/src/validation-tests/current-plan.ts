import type { ValidationTest } from '../contract/config.ts';
import type { Backend, RenderPlan } from '../contract/render-plan.ts';

function backend(servers: Backend['servers']): Backend {
  return { profile: '', mode: 'http', guid: '', shape: 'static', servers, digest: '' };
}

/** The accepted render that a test says was before: as much of it as templates see. */
export function currentPlan({
  currentServers,
  currentFiles,
}: Pick<ValidationTest, 'currentServers' | 'currentFiles'>): RenderPlan | undefined {
  if (currentServers === undefined && currentFiles === undefined) return undefined;
  const backends = Object.entries(currentServers ?? {}).map(([name, servers]) => {
    return [name, backend(servers.map((server) => ({ ...server, keywords: [], guid: '' })))] as const;
  });
  const files = Object.entries(currentFiles ?? {}).map(([path, digest]) => {
    return { path, kind: 'file', digest, size: 0, reloadOnChange: true } as const;
  });
  return Object.freeze({
    schema: 1,
    id: '',
    releaseId: '',
    textId: '',
    sections: [],
    profiles: {},
    backends: Object.fromEntries(backends),
    maps: {},
    crtLists: {},
    certificates: {},
    caFiles: {},
    binds: [],
    files,
    k8sResources: [],
    statuses: [],
    events: [],
  });
}
