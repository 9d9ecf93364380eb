const watchedResources = { ingresses: { apiVersion: 'networking.k8s.io/v1', resources: 'ingresses' } };
const complete = { haproxyConfig: { template: 'global' }, watchedResources };
const assertion = { type: 'contains', target: 'haproxy.cfg', pattern: 'x' };

function tested(test: object): object {
  return { ...complete, validationTests: { t: test } };
}

/** What it is, the spec, and what the refusal must say. */
type Invalid = readonly (readonly [string, object, RegExp])[];

export const invalidConfigs: Invalid = [
  ['nothing at all', {}, /haproxyConfig is required where libraryRefs names no library/],
  ['no watches', { haproxyConfig: { template: '' } }, /watchedResources is required where libraryRefs/],
  ['an empty list of libraries', { libraryRefs: [] }, /haproxyConfig is required/],
  [
    'a library without a revision',
    { libraryRefs: [{ name: 'base' }] },
    /libraryRefs\[0\]\.revision: Required/,
  ],
  [
    'a library twice',
    {
      libraryRefs: [
        { name: 'base', revision: '1' },
        { name: 'base', revision: '2' },
      ],
    },
    /libraryRefs\[1\].*Duplicate value/,
  ],
  [
    'a watch without a version',
    { ...complete, watchedResources: { x: { resources: 'pods' } } },
    /either apiVersion or apiVersions/,
  ],
  [
    'a watch with both',
    { ...complete, watchedResources: { x: { resources: 'pods', apiVersion: 'v1', apiVersions: ['v1'] } } },
    /either apiVersion or apiVersions/,
  ],
  [
    'a kind in place of a resource',
    { ...complete, watchedResources: { x: { resources: 'Pod', apiVersion: 'v1' } } },
    /watchedResources\.x\.resources.*should match/,
  ],
  [
    'a number for a duration',
    { ...complete, controller: { debounce: 5 } },
    /controller\.debounce.*must be of type string/,
  ],
  [
    'a unit that is none',
    { ...complete, controller: { debounce: '5 sec' } },
    /controller\.debounce.*should match/,
  ],
  [
    'an unknown way to match',
    { ...complete, maps: { m: { match: 'prefix' } } },
    /Unsupported value: "prefix".*"beg"/,
  ],
  [
    'a snippet without a template',
    { ...complete, templateSnippets: { s: {} } },
    /templateSnippets\.s\.template: Required/,
  ],
  [
    'an enum without values',
    { ...complete, annotations: { 'a/b': { type: 'enum', appliesTo: ['ingress'], doc: 'x' } } },
    /enum lists the values of an annotation/,
  ],
  ['a test without assertions', tested({}), /every validation test needs assertions/],
  ['a test with an empty list of them', tested({ assertions: [] }), /should have at least 1 items/],
  [
    'an unknown assertion',
    tested({ assertions: [{ type: 'contain' }] }),
    /Unsupported value: "contain".*"contains"/,
  ],
  [
    'an assertion without its target',
    tested({ assertions: [{ type: 'contains', pattern: 'x' }] }),
    /type 'contains' or 'not_contains' needs target, pattern/,
  ],
  [
    'an assertion with the field of another',
    tested({ assertions: [{ ...assertion, patterns: ['x', 'y'] }] }),
    /type 'contains' or 'not_contains' needs target, pattern/,
  ],
  [
    'assertions of what all tests share',
    { ...complete, validationTests: { _global: { assertions: [assertion] } } },
    /_global, which all tests share, takes none/,
  ],
  ['an unknown key', { ...complete, templateSnippet: {} }, /unknown field "spec\.templateSnippet"/],
  [
    'a selector of pods that selects nothing',
    { ...complete, podSelector: {} },
    /podSelector\.matchLabels: Required/,
  ],
  [
    'a selector that selects all pods',
    { ...complete, podSelector: { matchLabels: {} } },
    /podSelector\.matchLabels.*should have at least 1 propert/,
  ],
  [
    'a value that no label has',
    { ...complete, podSelector: { matchLabels: { app: 'a b' } } },
    /podSelector\.matchLabels\.app.*should match/,
  ],
  [
    'expressions in the selector of pods',
    { ...complete, podSelector: { matchLabels: { app: 'a' }, matchExpressions: [] } },
    /unknown field "spec\.podSelector\.matchExpressions"/,
  ],
  [
    'seconds without a unit in an election',
    { ...complete, leaderElection: { leaseDuration: 15 } },
    /leaderElection\.leaseDuration.*must be of type string/,
  ],
  [
    'a unit of Go in an election',
    { ...complete, leaderElection: { retryPeriod: '1m30s' } },
    /leaderElection\.retryPeriod.*should match/,
  ],
  [
    'an unknown key of an election',
    { ...complete, leaderElection: { leaseName: 'x' } },
    /unknown field "spec\.leaderElection\.leaseName"/,
  ],
  [
    'a port that is none',
    { ...complete, agent: { port: 65_536 } },
    /agent\.port.*should be less than or equal to 65535/,
  ],
  ['a port by name', { ...complete, agent: { port: 'agent' } }, /agent\.port.*must be of type integer/],
  [
    'a wave of less than no pod',
    { ...complete, agent: { waves: { size: -1 } } },
    /agent\.waves\.size.*should be greater than or equal to 0/,
  ],
  [
    'a word for a yes',
    { ...complete, publish: { content: 'yes' } },
    /publish\.content.*must be of type boolean/,
  ],
  [
    'an interval without a unit',
    { ...complete, publish: { interval: '5' } },
    /publish\.interval.*should match/,
  ],
];

export const validConfigs: readonly (readonly [string, object])[] = [
  ['only libraries', { libraryRefs: [{ name: 'base', revision: 'base-1' }] }],
  ['all of it itself', complete],
  ['a test', tested({ assertions: [assertion] })],
  [
    'everything',
    {
      ...complete,
      maps: { m: { match: 'str' } },
      settings: { a: { b: [1] } },
      annotations: {
        'a/b': { type: 'enum', enum: ['x'], default: 'x', appliesTo: ['ingress'], doc: 'd', security: true },
      },
      validationTests: {
        _global: {
          fixtures: { ingresses: [{ apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: { a: 1 } }] },
        },
        t: {
          assertions: [
            { type: 'haproxy_valid' },
            { type: 'match_count', target: 'plan', pattern: 'x', expected: 0 },
          ],
        },
      },
      controller: { debounce: '0s', budgets: { routes: 5 } },
      podSelector: { matchLabels: { app: 'haproxy', 'example.org/empty': '' } },
      leaderElection: { leaseDuration: '15s', renewDeadline: '10s', retryPeriod: '500ms' },
      agent: { port: 65_535, driftInterval: '1m', applyTimeout: '1h', waves: { soak: '0s', size: 0 } },
      publish: { content: false, interval: '5s' },
    },
  ],
];

const DIGEST = 'c'.repeat(64);

/** The least that is published: a plan without a section. */
export const published = {
  planId: DIGEST,
  releaseId: 'release-1',
  sections: [],
  files: [],
  omitted: { sections: 0, files: 0, content: 0 },
};

export const validPublished: readonly (readonly [string, object])[] = [
  ['a plan alone', published],
  [
    'sections, files and contents, and a mark in place of what is secret',
    {
      ...published,
      sections: [
        { kind: 'global', digest: DIGEST },
        { kind: 'backend', name: 'b' },
        { kind: 'userlist', secret: true },
      ],
      files: [
        { path: 'maps/host.map', kind: 'map', size: 0, digest: DIGEST },
        { path: 'ssl/a.pem', kind: 'certificate', secret: true },
      ],
      omitted: { sections: 1, files: 2, content: 3 },
      content: [{ path: 'haproxy.cfg', text: 'global\n' }],
    },
  ],
];

export const invalidPublished: Invalid = [
  ['nothing at all', {}, /spec\.planId: Required.*spec\.releaseId: Required/],
  ['a plan without a name', { ...published, planId: '' }, /planId.*should be at least 1 chars long/],
  [
    'a digest that is a text',
    { ...published, files: [{ path: 'a', kind: 'map', digest: 'x'.repeat(65) }] },
    /files\[0\]\.digest: Too long/,
  ],
  ['a section of no kind', { ...published, sections: [{ name: 'b' }] }, /sections\[0\]\.kind: Required/],
  ['a file of no place', { ...published, files: [{ kind: 'map' }] }, /files\[0\]\.path: Required/],
  [
    'a mark that says not secret',
    { ...published, files: [{ path: 'a', kind: 'map', secret: false }] },
    /files\[0\]\.secret: Unsupported value: false/,
  ],
  [
    'less left out than nothing',
    { ...published, omitted: { sections: 0, files: -1, content: 0 } },
    /omitted\.files.*should be greater than or equal to 0/,
  ],
  [
    'a path without its text',
    { ...published, content: [{ path: 'haproxy.cfg' }] },
    /content\[0\]\.text: Required/,
  ],
  [
    'the text of a file beside its digest',
    { ...published, files: [{ path: 'a', kind: 'map', text: 'x' }] },
    /unknown field "spec\.files\[0\]\.text"/,
  ],
];

/** What it is, the status, and what the refusal must say. */
export const invalidPublishedStatuses: Invalid = [
  ['a pod without a name', { pods: [{ uid: 'u' }] }, /status\.pods\[0\]\.name: Required/],
  [
    'a condition that is neither true nor false nor unknown',
    { conditions: [{ ...condition('Yes') }] },
    /conditions\[0\]\.status: Unsupported value: "Yes"/,
  ],
  [
    'a condition without a reason',
    { conditions: [{ ...condition('True'), reason: '' }] },
    /conditions\[0\]\.reason.*should be at least 1 chars long/,
  ],
  ['an unknown key', { pod: [] }, /unknown field "status\.pod"/],
];

export function condition(status: string, type = 'Applied', reason = 'AllPods'): object {
  return { type, status, lastTransitionTime: '2026-01-01T00:00:00Z', reason, message: '' };
}
