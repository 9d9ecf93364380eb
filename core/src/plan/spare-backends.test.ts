import { describe, expect, it } from 'vitest';
import { OPERATION_NAMES, type DeployPlan, type Rendered, type RenderPlan } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import type { BackendPiece, Piece } from '../templates/output.ts';
import {
  backend,
  base,
  mapContent,
  profiles,
  renderOutput,
  section,
  server,
} from '../testing/render-output.ts';
import { assemble } from './assemble.ts';
import { diff } from './diff/diff.ts';
import { PlanMemo } from './memo.ts';
import { SPARES_MAP } from './spare-backends.ts';

function render(
  pieces: readonly Piece[],
  current?: RenderPlan,
  { memo = new PlanMemo(sha256), count = 2 }: { readonly memo?: PlanMemo; readonly count?: number } = {},
): Rendered {
  const output = renderOutput({ pieces: [base, profiles, ...pieces] });
  const carried = { spareBackends: count, ...(current && { current }) };
  return assemble(output, { maps: { [SPARES_MAP]: mapContent() } }, memo, carried);
}

function app(name: string, overrides: Partial<BackendPiece> = {}): BackendPiece {
  return backend(name, { body: 'retries 3\n', servers: [server('p', { guid: '' })], ...overrides });
}

function change(next: Rendered, before: Rendered, haproxyVersion = '3.2.26'): DeployPlan {
  return diff({
    next: next.plan,
    pod: { name: 'p', ops: OPERATION_NAMES, haproxyVersion, baseline: before.plan },
  });
}

/** Who sits where. */
function seats({ plan }: Rendered): Readonly<Record<string, string>> {
  return Object.fromEntries(plan.maps[`maps/${SPARES_MAP}.map`]!.entries);
}

const first = render([app('a')]);
const profile = Object.keys(first.plan.profiles)[0]!;
const spare = (number: number): string => `spare-${profile}-${number}`;
const second = render([app('a'), app('b')], first.plan);

it('declares some empty backends of every profile, after all others', () => {
  expect(Object.keys(first.plan.backends)).toEqual(['a', spare(1), spare(2)]);
  expect(new TextDecoder().decode(first.files.read('haproxy.cfg'))).toMatch(
    new RegExp(`\nbackend ${spare(1)} from ${profile}\n    guid be:${spare(1)}\nbackend ${spare(2)} [^]*$`),
  );
});

it('has none where none are wanted, or no map leads to them', () => {
  expect(Object.keys(render([app('a')], undefined, { count: 0 }).plan.backends)).toEqual(['a']);
  const output = renderOutput({ pieces: [base, profiles, app('a')] });
  const { plan } = assemble(output, { maps: {} }, new PlanMemo(sha256), { spareBackends: 2 });
  expect(Object.keys(plan.backends)).toEqual(['a']);
});

describe('a new backend', () => {
  it('takes a spare one of its profile, without a reload', () => {
    expect(seats(second)).toEqual({ b: spare(1) });
    expect(second.plan.backends[spare(1)]).toMatchObject({ spareFor: 'b', servers: [{ guid: 'srv:b:p' }] });
    expect(change(second, first)).toMatchObject({
      mode: 'runtime',
      ops: [
        { op: 'server.add', backend: spare(1), server: { name: 'p', guid: 'srv:b:p' } },
        { op: 'map.add', map: 'maps/spares.map', key: 'b', value: spare(1) },
      ],
    });
  });

  it('keeps its seat, and what it says there', () => {
    const third = render([app('a'), app('aa'), app('b', { servers: [] })], second.plan);
    expect(seats(third)).toEqual({ aa: spare(2), b: spare(1) });
    expect(change(third, second).mode).toBe('runtime');
  });

  it('gives everybody a place of their own when no seat is left', () => {
    const full = render([app('a'), app('b'), app('c'), app('d')], second.plan);
    expect(seats(full)).toEqual({});
    expect(change(full, second).mode).toBe('reload');
    expect(Object.keys(full.plan.backends)).toEqual(['a', 'b', 'c', 'd', spare(1), spare(2)]);
  });

  it.each<[string, readonly Piece[]]>([
    ['its profile is new', [app('a'), app('b', { body: 'retries 4\n' })]],
    ['it is static', [app('a'), app('b', { body: 'stick-table type ip size 1k\n' })]],
    ['a core section changes', [section('x', 'userlist u\n'), app('a'), app('b')]],
    ['another one goes', [app('b')]],
    ['another one changes', [app('a', { body: 'retries 4\n' }), app('b')]],
  ])('has a place of its own where a reload is due anyway: %s', (_, pieces) => {
    const next = render(pieces, first.plan);
    expect(seats(next)).toEqual({});
    expect(change(next, first).mode).toBe('reload');
  });
});

describe('a seat that is left', () => {
  const left = render([app('a')], second.plan);

  it('is left after what leads there', () => {
    expect(change(left, second).ops.map(({ op }) => op)).toEqual(['map.del', 'server.del']);
  });

  it('is not taken in the same moment', () => {
    expect(seats(render([app('a'), app('c')], second.plan))).toEqual({ c: spare(2) });
    expect(seats(render([app('a'), app('c')], left.plan))).toEqual({ c: spare(1) });
  });

  it('is handed over by a reload to a pod that did not see it free', () => {
    const third = render([app('a'), app('c')], left.plan);
    expect(change(third, second)).toMatchObject({
      mode: 'reload',
      reasons: [`spare_reused:${spare(1)}`],
      inPlaceOps: [],
    });
    expect(change(third, left).mode).toBe('runtime');
  });
});

it('serves for one whose profile changes, if that one sat already', () => {
  const two = render([app('a'), app('x', { body: 'retries 4\n' })]);
  const seated = render([app('a'), app('b'), app('x', { body: 'retries 4\n' })], two.plan);
  const moved = render(
    [app('a'), app('b', { body: 'retries 4\n' }), app('x', { body: 'retries 4\n' })],
    seated.plan,
  );
  expect(seats(moved)['b']).toMatch(/-1$/);
  expect(seats(moved)['b']).not.toBe(seats(seated)['b']);
  expect(change(moved, seated).ops.map(({ op }) => op)).toEqual(['server.add', 'map.set', 'server.del']);
});

it('only leaves the file when it is free and its profile goes', () => {
  const two = render([app('a')], undefined, { count: 2 });
  const none = render([app('a')], two.plan, { count: 0 });
  expect(change(none, two)).toMatchObject({
    mode: 'file_only',
    reasons: [`backend_removed:${spare(1)}`, `backend_removed:${spare(2)}`],
  });
});

it('keeps what did not change identical', () => {
  const memo = new PlanMemo(sha256);
  const pieces = [app('a'), app('b')];
  const before = render(pieces, first.plan, { memo });
  const after = render([...pieces], before.plan, { memo });
  expect(after.plan.id).toBe(before.plan.id);
  for (const [index, found] of after.plan.sections.slice(1).entries()) {
    expect(found).toBe(before.plan.sections[index + 1]);
  }
});
