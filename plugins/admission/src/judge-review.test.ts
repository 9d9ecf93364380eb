import {
  Cancelled,
  Refused,
  Retry,
  type ControllerStatus,
  type KubeObject,
  type Proposal,
  type ProposalAnswer,
} from '@haptic/core/contract';
import { describe, expect, test } from 'vitest';
import { judgeReview } from './judge-review.ts';
import { redacted, reviewBody, reviewSchema, type ReviewRequest } from './review.ts';
import { Turns } from './turns.ts';

const watch = {
  admission: true,
  apiVersions: ['networking.k8s.io/v1'],
  resources: 'ingresses',
  namespaces: [],
};
const object: KubeObject = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'Ingress',
  metadata: { name: 'a', namespace: 'n' },
};

function request(more: object = {}): ReviewRequest {
  const resource = { group: 'networking.k8s.io', version: 'v1', resource: 'ingresses' };
  const base = { uid: 'u', operation: 'CREATE', resource, name: 'a', namespace: 'n', object };
  const review = {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { ...base, ...more },
  };
  return reviewSchema.parse(review).request;
}

/** What is served: the watches, and whether the object is there. */
function serving(watches: object, isHere = false): ControllerStatus {
  const view = { watches: Object.keys(watches), watch: () => ({ get: () => (isHere ? object : undefined) }) };
  return {
    phase: 'serving',
    config: { watchedResources: watches },
    input: { view },
  } as unknown as ControllerStatus;
}

interface Asked {
  readonly status?: ControllerStatus;
  readonly wanted?: boolean;
  readonly answer?: () => Promise<ProposalAnswer>;
  readonly signal?: AbortSignal;
}

async function ask(review: ReviewRequest, { status, wanted = true, answer, signal }: Asked = {}) {
  const proposals: Proposal[] = [];
  const controller = {
    status: () => status ?? serving({ web: watch }),
    judgeProposal: (proposal: Proposal) => {
      proposals.push(proposal);
      return answer?.() ?? Promise.resolve({ allowed: true, findings: [] } as ProposalAnswer);
    },
  };
  const interests = { isWanted: () => wanted };
  const turns = new Turns({ atOnce: 2, waiting: 1 });
  const parts = { controller, interests, turns };
  const said = await judgeReview(parts, review, signal ?? new AbortController().signal);
  return { said, proposals };
}

describe('a review', () => {
  test('is judged by the watch that asks for it', async () => {
    const { said, proposals } = await ask(request());
    expect(said).toEqual({ allowed: true });
    expect(proposals).toEqual([{ watch: 'web', object }]);
  });

  test.each([
    ['no watch asks', { web: { ...watch, admission: false } }, {}],
    ['another kind', { web: watch }, { resource: { group: '', version: 'v1', resource: 'services' } }],
    [
      'another version',
      { web: watch },
      { resource: { group: 'networking.k8s.io', version: 'v2', resource: 'ingresses' } },
    ],
    ['a namespace that is not watched', { web: { ...watch, namespaces: ['other'] } }, {}],
  ])('is not judged: %s', async (_, watches, more) => {
    const { said, proposals } = await ask(request(more), { status: serving(watches) });
    expect(said).toEqual({ allowed: true });
    expect(proposals).toEqual([]);
  });

  test('of a foreign object is no change; of one that becomes foreign a deletion', async () => {
    expect((await ask(request(), { wanted: false })).proposals).toEqual([]);
    const { proposals } = await ask(request({ operation: 'UPDATE' }), {
      wanted: false,
      status: serving({ web: watch }, true),
    });
    expect(proposals).toEqual([{ watch: 'web', delete: { namespace: 'n', name: 'a' } }]);
  });

  test.each([
    ['labels', { labelSelector: 'app=shop' }],
    ['fields', { fieldSelector: 'metadata.name=b' }],
  ])(
    'of an object that its watch does not see by its %s is no change; of one that leaves a deletion',
    async (_, selector) => {
      const status = serving({ web: { ...watch, ...selector } });
      expect((await ask(request(), { status })).proposals).toEqual([]);
      const leaving = serving({ web: { ...watch, ...selector } }, true);
      expect((await ask(request({ operation: 'UPDATE' }), { status: leaving })).proposals).toEqual([
        { watch: 'web', delete: { namespace: 'n', name: 'a' } },
      ]);
    },
  );

  test('of a Secret that nobody names goes to the watch alone that names it itself', async () => {
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: object.metadata, type: 'Opaque' };
    const resource = { group: '', version: 'v1', resource: 'secrets' };
    const secrets = { ...watch, apiVersions: ['v1'], resources: 'secrets' };
    const status = serving({
      all: secrets,
      mine: { ...secrets, fieldSelector: 'metadata.name=a' },
      other: { ...secrets, fieldSelector: 'metadata.name=b' },
      not: { ...secrets, fieldSelector: 'metadata.name!=b' },
    });
    const { said, proposals } = await ask(request({ resource, object: secret }), { status, wanted: false });
    expect(said).toEqual({ allowed: true });
    expect(proposals.map(({ watch: name }) => name)).toEqual(['mine']);
  });

  test('goes to those watches alone that see the object', async () => {
    const labelled = { ...object, metadata: { ...object.metadata, labels: { app: 'shop' } } };
    const status = serving({
      shop: { ...watch, labelSelector: 'app=shop', fieldSelector: 'metadata.name=a' },
      mail: { ...watch, labelSelector: 'app=mail' },
    });
    const { proposals } = await ask(request({ object: labelled }), { status });
    expect(proposals).toEqual([{ watch: 'shop', object: labelled }]);
  });

  test('of a Helm release is none, whatever the watch of Secrets selects', async () => {
    const secrets = { admission: true, apiVersions: ['v1'], resources: 'secrets', namespaces: [] };
    const resource = { group: '', version: 'v1', resource: 'secrets' };
    const of = (type: string): ReviewRequest =>
      request({ resource, object: { apiVersion: 'v1', kind: 'Secret', type, metadata: { name: 'a' } } });
    const status = serving({ secrets });
    expect((await ask(of('helm.sh/release.v1'), { status })).proposals).toEqual([]);
    expect((await ask(of('kubernetes.io/tls'), { status })).proposals).toHaveLength(1);
  });

  test('of a Namespace is in no namespace', async () => {
    const namespaces = {
      admission: true,
      apiVersions: ['v1'],
      resources: 'namespaces',
      namespaces: ['other'],
    };
    const resource = { group: '', version: 'v1', resource: 'namespaces' };
    const one = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a' } };
    const { proposals } = await ask(request({ resource, namespace: 'a', object: one }), {
      status: serving({ namespaces }),
    });
    expect(proposals).toEqual([{ watch: 'namespaces', object: one }]);
  });

  test('of an object whose name is still to be made up is judged under another', async () => {
    const nameless = { ...object, metadata: { generateName: 'x-', namespace: 'n' } };
    const { proposals } = await ask(request({ name: undefined, object: nameless }));
    expect(proposals).toMatchObject([{ object: { metadata: { name: 'x-(generated)', namespace: 'n' } } }]);
  });

  test('tells warnings once, with their place', async () => {
    const finding = {
      judge: 'j',
      phase: 'custom',
      severity: 'warning',
      message: 'old',
      path: 'f',
      line: 3,
    } as const;
    const answer = () => Promise.resolve({ allowed: true, findings: [finding, finding] } as ProposalAnswer);
    expect((await ask(request(), { answer })).said).toEqual({ allowed: true, warnings: ['j: old (f:3)'] });
  });

  test.each([
    [
      'a verdict',
      () => Promise.resolve({ allowed: false, error: new Refused('no') } as ProposalAnswer),
      403,
      'no',
    ],
    [
      'no verdict',
      () => Promise.resolve({ allowed: false, error: new Retry('away') } as ProposalAnswer),
      503,
      'away',
    ],
    ['a failure', () => Promise.reject(new Error('broken')), 503, 'broken'],
  ])('is denied after %s', async (_, answer, code, words) => {
    const { said } = await ask(request(), { answer });
    expect(said).toMatchObject({ allowed: false, code, message: expect.stringContaining(words) as string });
  });

  test('is denied while nothing serves, and when time is over', async () => {
    expect((await ask(request(), { status: { phase: 'waiting' } })).said).toMatchObject({
      allowed: false,
      code: 503,
    });
    const late = { answer: () => Promise.reject(new Cancelled()), signal: AbortSignal.abort() };
    expect((await ask(request(), late)).said).toMatchObject({
      code: 503,
      message: expect.stringContaining('in time') as string,
    });
  });
});

describe('the answer', () => {
  test('shows no secret, not even one that is cut', () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${'MIIE'.repeat(2_000)}\n-----END PRIVATE KEY-----`;
    const answer = redacted({ allowed: false, code: 403, message: `no: ${pem}`, warnings: [`old: ${pem}`] });
    expect(answer).toEqual({
      allowed: false,
      code: 403,
      message: 'no: [redacted PEM]',
      warnings: ['old: [redacted PEM]'],
    });
    expect(redacted({ allowed: true })).toEqual({ allowed: true });
  });

  test('keeps within what an API server passes on', () => {
    const warnings = Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(300)}`);
    const body = reviewBody('u', { allowed: true, warnings }) as { response: { warnings: string[] } };
    expect(body.response.warnings).toHaveLength(16);
    expect(body.response.warnings.every((text) => text.length <= 256)).toBe(true);
    expect(body.response.warnings.at(-1)).toBe('… and 5 more');
  });

  test.each([{}, { request: { uid: '' } }, { apiVersion: 'admission.k8s.io/v1beta1' }])(
    'to %j is none',
    (review) => {
      expect(
        reviewSchema.safeParse({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', ...review })
          .success,
      ).toBe(false);
    },
  );
});
