import {
  refOf,
  Refused,
  type KubeObject,
  type MergedConfig,
  type QuarantineChange,
  type Rendered,
  type StateStore,
  type Verdict,
} from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import type { RenderSubject } from '../pipeline/index.ts';
import { evaluateAround, type Around } from '../quarantine/evaluate-around.ts';
import type { Failure } from '../quarantine/complaints.ts';
import { Quarantine } from '../quarantine/quarantine.ts';
import { SecurityFieldsOfKinds } from '../quarantine/security-fields.ts';
import { Store } from '../store/index.ts';
import { fakeClock } from './fake-clock.ts';
import { memoryLog } from './memory-log.ts';

interface Judged {
  readonly value: string[];
  readonly rendered: Rendered;
  readonly verdict: Verdict;
}

export function watchedIngress(
  name: string,
  spec: object = {},
  namespace = 'shop',
  uid = `uid-${name}`,
): KubeObject {
  const metadata = { namespace, name, uid };
  return { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata, spec };
}

export function memoryStateStore(): StateStore & { readonly documents: Map<string, string> } {
  const documents = new Map<string, string>();
  return {
    documents,
    read: async (name) => documents.get(name),
    write: async (name, document) => void documents.set(name, document),
  };
}

function config(digest: string): MergedConfig {
  return { digest, annotations: { 'x.io/auth': { security: true } } } as unknown as MergedConfig;
}

/** A quarantine over a store of Ingresses; one whose spec says `bad` is refused, as HAProxy would, and `fail` as a template would. */
export function quarantineRig(store?: StateStore) {
  const clock = fakeClock();
  const log = memoryLog();
  const changes: QuarantineChange[] = [];
  const objects = new Store({
    ingresses: { indexBy: [], ignoreFields: [] },
    secrets: { indexBy: [], ignoreFields: [] },
  });
  const security = new SecurityFieldsOfKinds();
  security.add({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    fields: ({ spec }) => (spec as { tls?: unknown }).tls,
  });
  const quarantine = new Quarantine({
    hash: sha256,
    clock,
    log,
    security,
    store,
    onChange: (change) => changes.push(change),
  });
  const stage = {
    clock,
    log,
    changes,
    objects,
    quarantine,
    digest: 'first',
    attempts: 0,
    /** More that is refused. */
    refuse: undefined as ((subject: RenderSubject) => Verdict | undefined) | undefined,
    put: (...all: KubeObject[]) => objects.apply('ingresses', { upserts: all, deletes: [] }),
    remove: (name: string, namespace = 'shop') =>
      objects.apply('ingresses', { upserts: [], deletes: [{ namespace, name }] }),
    subject: (): RenderSubject => {
      return {
        config: config(stage.digest),
        view: objects.view(),
        fleet: { haproxyVersion: '3.4.7', paths: { base: '/b', workerSocket: '/w' } },
      };
    },
    judge: async (subject: RenderSubject): Promise<Judged> => {
      stage.attempts++;
      const served = [...subject.view.watch('ingresses').list()];
      const failing = served.find(({ spec }) => (spec as { fail?: string }).fail !== undefined);
      if (failing !== undefined) {
        const where = `main:${(failing.spec as { fail: string }).fail}:1`;
        throw new Refused([{ where, message: 'no such thing', objects: [refOf(failing)] }]);
      }
      const bad = served.filter(({ spec }) => (spec as { bad?: string }).bad !== undefined);
      const findings = bad.map((object) => ({
        judge: 'haproxy',
        phase: 'haproxy' as const,
        severity: 'error' as const,
        message: `unknown keyword '${(object.spec as { bad: string }).bad}'`,
        provenance: { snippet: 'backends', source: 'base', line: 3, objects: [refOf(object)] },
      }));
      const verdict: Verdict =
        findings.length > 0
          ? { kind: 'refused', findings }
          : (stage.refuse?.(subject) ?? { kind: 'passed', findings: [] });
      return { value: served.map(({ metadata }) => metadata.name), rendered: judgedRender, verdict };
    },
    /** As the reconcile loop does. */
    reconcile: async (first?: Failure): Promise<Around<string[]>> => {
      const subject = stage.subject();
      const draft = quarantine.draft(subject);
      const around = await evaluateAround(draft, subject, (subject) => stage.judge(subject), first);
      if (around.kind === 'evaluated') {
        quarantine.keep(draft);
        quarantine.accept(around.subject);
      }
      return around;
    },
    /** Beside it. */
    onTheSide: async (): Promise<boolean> => {
      const subject = stage.subject();
      const trial = quarantine.trials(subject);
      if (trial.size === 0) return false;
      const draft = quarantine.draft(subject, trial);
      const around = await evaluateAround(draft, subject, (subject) => stage.judge(subject));
      quarantine.tried(draft, trial, around.kind === 'evaluated' ? 'passed' : 'refused');
      return true;
    },
    held: () => quarantine.held.map(({ object, instead }) => `${object.name} ${instead}`),
  };
  objects.replace('ingresses', []);
  objects.replace('secrets', []);
  return stage;
}

export const judgedRender = {
  plan: { id: 'x', files: [], sections: [] },
  locate: () => undefined,
} as unknown as Rendered;

export function served(around: Around<string[]>): string[] {
  if (around.kind !== 'evaluated') throw new Error(around.culprit.reason);
  return around.value;
}

/** A hundred good ones and a bad one. */
export function crowd(): KubeObject[] {
  return Array.from({ length: 100 }, (_, index) => watchedIngress(`good-${index}`, { version: 1 }));
}
