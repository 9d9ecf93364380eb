import { describe, expect, it } from 'vitest';
import {
  OPERATION_NAMES,
  type DeployPlan,
  type MapContent,
  type Pod,
  type RenderPlan,
} from '../../contract/index.ts';
import { sha256 } from '../../controller/sha256.ts';
import {
  backend,
  base,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../../testing/render-output.ts';
import type { RenderOutput } from '../../templates/output.ts';
import { assemble } from '../assemble.ts';
import { PlanMemo } from '../memo.ts';
import { diff } from './diff.ts';

const map: MapContent = {
  match: 'str',
  value: 'str',
  layer: 'host',
  secret: false,
  requires: [],
  origin: { kind: 'library', source: 'base' },
};
const maps: Readonly<Record<string, MapContent>> = {
  hosts: map,
  paths: { ...map, match: 'beg', layer: 'path' },
  lists: { ...map, layer: 'list' },
  acts: { ...map, layer: 'leaf' },
  regexes: { ...map, match: 'reg', layer: 'path' },
};

function plan(pieces: RenderOutput['pieces'] = [], rest: Partial<RenderOutput> = {}): RenderPlan {
  const output = renderOutput({ pieces: [base, profiles, ...pieces], ...rest });
  return assemble(output, { maps }, new PlanMemo(sha256)).plan;
}

function entries(
  ...rows: readonly (readonly [map: string, key: string, value: string])[]
): Partial<RenderOutput> {
  return {
    entries: rows.map(([name, key, value]) => ({ map: name, key, value, provenance: provenanceOf(key) })),
  };
}

/** Certificates by name, and the lines `certificate sni…` of one crt-list. */
function certificates(
  names: Readonly<Record<string, string>>,
  ...lines: readonly string[]
): Partial<RenderOutput> {
  return {
    certificates: Object.entries(names).map(([name, pem]) => ({
      name,
      pem: pemOf(pem),
      provenance: provenanceOf(name),
    })),
    crtLines: lines.map((line) => {
      const [certificate = '', ...sni] = line.split(' ');
      return { list: 'tls', certificate, options: '', sni, provenance: provenanceOf(certificate) };
    }),
  };
}

function pemOf(text: string): string {
  return `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString('base64')}\n-----END CERTIFICATE-----\n`;
}

/** Knows everything. */
const able: Pod = { name: 'p', haproxyVersion: '3.4.7', ops: OPERATION_NAMES };

function from(baseline: RenderPlan, next: RenderPlan, pod: Partial<Pod> = {}): DeployPlan {
  return diff({ next, pod: { ...able, baseline, ...pod } });
}

const profileOf = (next: RenderPlan): string => Object.keys(next.profiles)[0]!;
const empty = plan();

describe('what is not known of a pod', () => {
  const everything = { pod: 'p', mode: 'reload', ops: [], inPlaceOps: [], files: empty.files, binds: [] };

  it('is sent and loaded', () => {
    expect(diff({ next: empty, pod: able })).toEqual({ ...everything, reasons: ['baseline_unknown'] });
  });

  it('is that of another schema too', () => {
    const baseline = { ...empty, schema: 2 } as unknown as RenderPlan;
    expect(from(baseline, empty)).toEqual({ ...everything, reasons: ['baseline_schema:2'] });
  });

  it.each([
    ['its agent knows no ops', { ops: ['server.add'] }, ['map_changed:maps/hosts.map', 'op_missing:map.add']],
    ['its agent knows others', { ops: [...OPERATION_NAMES, 'teapot'] }, ['map_changed:maps/hosts.map']],
  ])('%s', (_, pod, reasons) => {
    const { mode, reasons: found } = from(empty, plan([], entries(['hosts', 'a', 'b'])), pod);
    expect([mode, found]).toEqual([reasons.length > 1 ? 'reload' : 'runtime', reasons]);
  });
});

describe('text', () => {
  const one = plan([backend('a')]);

  it('reloads for what no worker has seen', () => {
    expect(from(empty, one)).toMatchObject({ mode: 'reload', reasons: [`profile_new:${profileOf(one)}`] });
    const sections = (text: string): RenderPlan => plan([section('x', 'cache a\n'), section('x', text)]);
    expect(from(sections('cache c\n'), sections('cache b\n')).reasons).toEqual(['core_changed:x']);
    expect(from(plan([section('x', 'cache a\n')]), sections('cache b\n')).reasons).toEqual(['core_added:x']);
    expect(from(sections('cache b\n'), plan([section('x', 'cache a\n')])).reasons).toEqual([
      'core_removed:x',
    ]);
  });

  it('reloads for another order of sections', () => {
    const a = section('a', 'cache a\n');
    const b = section('b', 'cache b\n');
    expect(from(plan([b, a]), plan([a, b]))).toMatchObject({ mode: 'reload', reasons: ['layout_changed'] });
  });

  it('only writes another order of backends', () => {
    const [a, b] = [backend('a'), backend('b')];
    expect(from(plan([a, b]), plan([b, a]))).toMatchObject({
      mode: 'file_only',
      reasons: ['layout_changed'],
      files: [{ path: 'haproxy.cfg' }],
    });
  });

  it('reloads for another bind', () => {
    const bound = plan([], { binds: [{ address: ':80', provenance: provenanceOf('b') }] });
    expect(from(empty, bound)).toMatchObject({ reasons: ['binds_changed'], binds: [{ address: ':80' }] });
  });
});

describe('backends', () => {
  const pod1 = server('pod-1', { weight: 3, keywords: ['check', 'inter', '2s'] });
  const a = backend('a');
  const b = backend('b', { servers: [pod1] });

  it('are added and removed while the worker runs', () => {
    const [one, two] = [plan([a]), plan([a, b])];
    const server1 = {
      name: 'pod-1',
      address: '10.0.0.1',
      port: 8080,
      weight: 3,
      state: 'ready',
      checked: true,
      keywords: ['check', 'inter', '2s'],
      guid: 'sv:pod-1',
    };
    const profile = profileOf(one);
    expect(from(one, two)).toMatchObject({
      mode: 'runtime',
      reasons: ['backend_added:b'],
      ops: [{ op: 'backend.add', name: 'b', profile, mode: 'http', guid: 'be:b', servers: [server1] }],
      files: [{ path: 'haproxy.cfg' }],
    });
    expect(from(two, one)).toMatchObject({
      mode: 'runtime',
      reasons: ['backend_removed:b'],
      ops: [{ op: 'backend.del', name: 'b', servers: ['pod-1'] }],
    });
  });

  it('only leave the file with their profile, and come back to a worker that still has it', () => {
    const [without, one] = [plan([a]), plan([a, backend('c', { body: 'retries 3\n' })])];
    const profile = Object.keys(one.profiles)[1]!;
    const gone = from(one, without);
    expect(gone.reasons).toEqual(['backend_removed:c', `profile_removed:${profile}`]);
    expect(gone.mode).toBe('runtime');
    expect(from(without, one).reasons).toEqual([`profile_new:${profile}`]);
    const loadedProfiles = new Set(Object.keys(one.profiles));
    const back = from(without, one, { loadedProfiles });
    expect(back).toMatchObject({ mode: 'runtime', reasons: ['backend_added:c', `profile_added:${profile}`] });
    // The other way round: the file has it, and waits for its reload.
    expect(
      from(one, plan([a, b, backend('c', { body: 'retries 3\n' }), backend('d', { body: 'retries 3\n' })]), {
        loadedProfiles: new Set(),
      }).mode,
    ).toBe('reload');
  });

  it.each([
    ['HAProxy is too old', a, b, { haproxyVersion: '3.2.26' }],
    ['the version is not known', a, b, { haproxyVersion: undefined }],
    ['they are static', a, backend('b', { body: 'stick-table type ip size 1k\n' }), {}],
  ])('wait for a reload where %s', (_, first, second, pod) => {
    const [one, two] = [plan([first]), plan([first, second])];
    const known = { ...able, ...pod } as Pod;
    expect(diff({ next: two, pod: { ...known, baseline: one } }).reasons).toEqual(['backend_added:b']);
    expect(diff({ next: one, pod: { ...known, baseline: two } }).reasons).toEqual(['backend_removed:b']);
  });

  it('wait for a reload where more than their servers changes, whose changes do not wait', () => {
    const pod2 = server('pod-2');
    const changed = backend('b', { body: 'filter trace\n', servers: [pod2, { ...pod1, port: 81 }] });
    expect(from(plan([a, b]), plan([a, changed]))).toMatchObject({
      mode: 'reload',
      reasons: ['backend_changed:b'],
      ops: [],
      inPlaceOps: [
        { op: 'server.add', backend: 'b', server: { name: 'pod-2' } },
        { op: 'server.set', backend: 'b', name: 'pod-1', endpoint: { address: '10.0.0.1', port: 81 } },
      ],
    });
  });
});

describe('servers', () => {
  const change = (
    before: Parameters<typeof backend>[1],
    next: Parameters<typeof backend>[1],
    pod = {},
  ): DeployPlan => from(plan([backend('a', before)]), plan([backend('a', next)]), pod);

  it.each([
    [['weight', '10'], { weight: 5 }, undefined],
    [['weight', '10'], { state: 'drain' }, undefined],
    [['weight', '10'], { weight: 5, port: 81 }, { endpoint: { address: '10.0.0.1', port: 81 } }],
    [['disabled'], { state: 'maint' }, undefined],
    [['enabled'], { state: 'maint' }, undefined],
    [['disabled'], { weight: 5 }, { weight: 5 }],
  ] as const)('whose keywords are %j are not told otherwise by %j', (keywords, next, told) => {
    const before = server('a', { keywords });
    const { mode, ops } = change({ servers: [before] }, { servers: [{ ...before, ...next }] });
    expect(mode).toBe(told === undefined ? 'file_only' : 'runtime');
    expect(ops).toEqual(told === undefined ? [] : [{ op: 'server.set', backend: 'a', name: 'a', ...told }]);
  });

  it('come before others change, and go last', () => {
    const next = [server('b', { weight: 2 }), server('c')];
    const { mode, reasons, ops } = change(
      { servers: [server('a'), server('b')] },
      { servers: next },
      {
        haproxyVersion: '3.0.11',
      },
    );
    expect([mode, ...reasons]).toEqual([
      'runtime',
      'server_added:a/c',
      'server_changed:a/b',
      'server_removed:a/a',
    ]);
    expect(ops).toMatchObject([
      { op: 'server.add', backend: 'a', server: { name: 'c', weight: 1 } },
      { op: 'server.set', backend: 'a', name: 'b', weight: 2 },
      { op: 'server.del', backend: 'a', name: 'a', keywords: [], guid: 'sv:a' },
    ]);
  });

  it.each([
    [{ address: '10.0.0.2' }, {}, { endpoint: { address: '10.0.0.1', port: 8080 } }],
    [{ weight: 5 }, { state: 'drain' }, { weight: 0 }],
    [{ weight: 0 }, { weight: 0, state: 'drain' }, undefined],
    [{ weight: 1 }, {}, undefined],
    [
      { state: 'drain', weight: 4 },
      { state: 'maint', weight: 4 },
      { weight: 4, state: 'maint' },
    ],
    [{ state: 'maint' }, { state: 'ready' }, { state: 'ready' }],
  ] as const)('change from %j to %j by %j', (before, next, settings) => {
    const { mode, ops } = change({ servers: [server('a', before)] }, { servers: [server('a', next)] });
    expect(mode).not.toBe('reload');
    expect(ops).toEqual(
      settings === undefined ? [] : [{ op: 'server.set', backend: 'a', name: 'a', ...settings }],
    );
  });

  it('of a static backend change as well, where it takes them', () => {
    const body = 'stick-table type ip size 1k\n';
    expect(change({ body }, { body, servers: [server('a')] }).mode).toBe('runtime');
  });

  it.each([
    'balance source',
    'default-server check',
    'use-server a if FALSE',
    'server-template x 1 10.0.0.1:1',
  ])('wait for a reload below "%s"', (line) => {
    const body = `${line}\n`;
    const [a, b] = [server('a'), server('b')];
    expect(change({ body, servers: [a] }, { body, servers: [a, b] })).toMatchObject({
      mode: 'reload',
      reasons: ['server_added:a/b'],
      inPlaceOps: [],
    });
  });

  it('wait for a reload with other keywords, but not with their endpoint', () => {
    const plan = change(
      { servers: [server('a', { keywords: ['check'] })] },
      { servers: [server('a', { address: '10.0.0.9' })] },
    );
    expect(plan).toMatchObject({
      mode: 'reload',
      reasons: ['server_keywords:a/a'],
      inPlaceOps: [{ op: 'server.set', endpoint: { address: '10.0.0.9' } }],
    });
  });

  it('that no runtime takes are left to the reload', () => {
    const odd = server('b', { keywords: ['redir', '/'] });
    const body = 'stick-table type ip size 1k\n';
    expect(change({ body }, { body, servers: [odd] })).toMatchObject({
      mode: 'reload',
      reasons: ['server_added:a/b'],
      inPlaceOps: [],
    });
  });
});

describe('maps', () => {
  it('change by layer: what is pointed at comes first and goes last', () => {
    const before = plan(
      [],
      entries(['hosts', 'a', 't1'], ['paths', 't1/', 'x'], ['lists', 'l1', 'x'], ['acts', 'r1', 'x']),
    );
    const next = plan(
      [],
      entries(['hosts', 'b', 't2'], ['paths', 't2/', 'x'], ['lists', 'l2', 'x'], ['acts', 'r2', 'x']),
    );
    const { ops } = from(before, next);
    expect(
      ops.map((op) =>
        'key' in op ? `${op.op} ${op.key}${'deferred' in op && op.deferred ? ' later' : ''}` : '',
      ),
    ).toEqual([
      'map.add r2',
      'map.add l2',
      'map.add t2/',
      'map.add b',
      'map.del a',
      'map.del t1/',
      'map.del l1 later',
      'map.del r1 later',
    ]);
  });

  it('have their longer prefixes added first and removed last', () => {
    const before = plan([], entries(['paths', 't/', 'x'], ['paths', 't/a/', 'x']));
    const next = plan([], entries(['paths', 't/', 'y'], ['paths', 't/a/b/', 'y']));
    const keys = (ops: DeployPlan['ops']): readonly string[] =>
      ops.map((op) => ('key' in op ? `${op.op} ${op.key}` : ''));
    expect(keys(from(before, next).ops)).toEqual(['map.add t/a/b/', 'map.set t/', 'map.del t/a/']);
    expect(keys(from(next, plan()).ops)).toEqual(['map.del t/', 'map.del t/a/b/']);
  });

  it('whose order matters are replaced', () => {
    const before = plan([], entries(['regexes', '^a', 'x'], ['regexes', '^b', 'x']));
    const next = plan([], entries(['regexes', '^b', 'x'], ['regexes', '^a', 'x']));
    expect(from(before, next).ops).toEqual([{ op: 'map.replace', map: 'maps/regexes.map' }]);
  });

  it('point at backends that are there', () => {
    const before = plan([backend('a')], entries(['paths', 't/', 'a']));
    const next = plan([backend('b')], entries(['paths', 't/', 'b']));
    expect(from(before, next).ops.map(({ op }) => op)).toEqual(['backend.add', 'map.set', 'backend.del']);
  });

  it('reload when there is too much to do', () => {
    const rows = Array.from({ length: 1001 }, (_, index) => ['acts', `k${index}`, 'v'] as const);
    expect(from(empty, plan([], entries(...rows))).reasons).toEqual(['too_many_ops:1001']);
  });
});

describe('certificates', () => {
  const one = certificates({ a: '1' }, 'a a.test');

  it('are replaced, added and removed with their lines', () => {
    expect(from(plan([], one), plan([], certificates({ a: '2' }, 'a a.test'))).ops).toEqual([
      { op: 'cert.set', path: 'certs/a.pem' },
    ]);
    const two = plan([], certificates({ a: '1', b: '1' }, 'a a.test', 'b b.test *.b.test'));
    const line = { certificate: 'certs/b.pem', options: '', sni: ['b.test', '*.b.test'] };
    expect(from(plan([], one), two).ops).toEqual([
      { op: 'cert.add', path: 'certs/b.pem' },
      { op: 'crtlist.add', list: 'crt-lists/tls.txt', line },
    ]);
    expect(from(two, plan([], one)).ops).toEqual([
      { op: 'crtlist.del', list: 'crt-lists/tls.txt', line },
      { op: 'cert.del', path: 'certs/b.pem' },
    ]);
  });

  it.each([
    ['is the default one', ['b b.test', 'a a.test'], 'reload'],
    ['has filters of its own', ['a a.test', 'b b.test', 'c c.test'], 'runtime'],
    ['has a filter of a later one', ['a a.test', 'b C.test', 'c c.test'], 'reload'],
    ['has the names of its certificate', ['a a.test', 'b', 'c c.test'], 'reload'],
    ['stands last', ['a a.test', 'c c.test', 'b'], 'runtime'],
    ['is there twice', ['a a.test', 'c c.test', 'b', 'b'], 'reload'],
    ['moves the others', ['a a.test', 'b b.test', 'c c.test'].toReversed(), 'reload'],
  ] as const)('whose line %s', (_, lines, mode) => {
    const before = certificates({ a: '1', b: '1', c: '1' }, 'a a.test', 'c c.test');
    expect(from(plan([], before), plan([], certificates({ a: '1', b: '1', c: '1' }, ...lines))).mode).toBe(
      mode,
    );
  });

  it.each([
    ['a', 'reload'],
    ['b', 'runtime'],
  ] as const)(
    'of which another one has the same name behind it are replaced by a reload',
    (changed, mode) => {
      const lines = ['d d.test', 'a both.test', 'b both.test'];
      const before = plan([], certificates({ a: '1', b: '1', d: '1' }, ...lines));
      const next = plan([], certificates({ a: '1', b: '1', d: '1', [changed]: '2' }, ...lines));
      expect(from(before, next)).toMatchObject({
        mode,
        reasons: [`certificate_changed:certs/${changed}.pem`],
      });
    },
  );

  it('that no list names come and go with a reload', () => {
    expect(from(empty, plan([], certificates({ a: '1' }))).reasons).toEqual([
      'certificate_added:certs/a.pem',
    ]);
    expect(from(plan([], certificates({ a: '1' })), empty).reasons).toEqual([
      'certificate_removed:certs/a.pem',
    ]);
  });

  it('of an authority change while the worker runs', () => {
    const ca = (text: string): RenderPlan =>
      plan([], {
        ...one,
        files: [
          {
            kind: 'ca',
            name: 'x',
            text: pemOf(text),
            reloadOnChange: true,
            secret: false,
            provenance: provenanceOf('x'),
          },
        ],
      });
    expect(from(ca('1'), ca('2')).ops).toEqual([{ op: 'ca.set', path: 'ca/x.pem', ifLoaded: true }]);
    expect(from(ca('1'), ca('2'), { haproxyVersion: '3.0.11-1+deb13u4' })).toMatchObject({
      mode: 'reload',
      reasons: ['ca_changed:ca/x.pem'],
    });
    expect(from(plan([], one), ca('1')).reasons).toEqual(['ca_added:ca/x.pem']);
  });
});

describe('files', () => {
  const file = (text: string, reloadOnChange: boolean): RenderPlan =>
    plan([], {
      files: [
        { kind: 'file', name: 'x', text, reloadOnChange, secret: false, provenance: provenanceOf('f') },
      ],
    });

  it('are loaded or only written, as they say', () => {
    expect(from(file('a', true), file('b', true))).toMatchObject({
      mode: 'reload',
      reasons: ['file_changed:files/x'],
    });
    expect(from(file('a', false), file('b', false))).toMatchObject({
      mode: 'file_only',
      reasons: ['file_changed:files/x'],
      files: [{ path: 'files/x' }],
    });
    expect(from(file('a', false), file('a', true))).toMatchObject({ mode: 'file_only', files: [] });
  });

  it('are sent where the pod lacks them', () => {
    const next = plan([], entries(['hosts', 'a', 'b']));
    expect(from(empty, next).files.map(({ path }) => path)).toEqual(['maps/hosts.map']);
  });
});

describe('reasons', () => {
  it('are bounded', () => {
    const many = plan(
      Array.from({ length: 100 }, (_, index) => backend(`b${index}`, { body: `retries ${index}\n` })),
    );
    const { reasons } = from(empty, many);
    expect(reasons).toHaveLength(65);
    expect(reasons.at(-1)).toBe('more:36');
  });

  it('tell names that records inherit from those that they hold', () => {
    const odd = plan([backend('constructor'), backend('a')]);
    const baseline = JSON.parse(JSON.stringify(plan([backend('a')]))) as RenderPlan;
    expect(from(baseline, odd).reasons).toEqual(['backend_added:constructor']);
  });
});
