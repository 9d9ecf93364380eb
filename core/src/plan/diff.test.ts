import { describe, expect, it } from 'vitest';
import type { MapContent, RenderPlan } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { backend, base, profiles, provenanceOf, renderOutput, section } from '../testing/render-output.ts';
import type { RenderOutput } from '../templates/output.ts';
import { assemble } from './assemble.ts';
import { diff } from './diff.ts';
import { PlanMemo } from './memo.ts';

const map: MapContent = {
  match: 'str',
  value: 'str',
  layer: 'host',
  secret: false,
  requires: [],
  origin: { kind: 'library', source: 'base' },
};

function plan(pieces: RenderOutput['pieces'] = [], rest: Partial<RenderOutput> = {}): RenderPlan {
  const output = renderOutput({ pieces: [base, profiles, ...pieces], ...rest });
  return assemble(output, { maps: { hosts: map } }, new PlanMemo(sha256)).plan;
}

function reasons(next: RenderPlan, baseline: RenderPlan): readonly string[] {
  return diff({ next, pod: { name: 'p', ops: [], baseline } }).reasons;
}

const profileOf = (next: RenderPlan): string => Object.keys(next.profiles)[0]!;

it('sends and loads everything where nothing is known', () => {
  const next = plan();
  expect(diff({ next, pod: { name: 'p', ops: [] } })).toEqual({
    pod: 'p',
    mode: 'reload',
    reasons: ['baseline_unknown'],
    files: next.files,
  });
});

it('sends and loads everything where the baseline has another schema', () => {
  const next = plan();
  const baseline = { ...next, schema: 2 } as unknown as RenderPlan;
  expect(diff({ next, pod: { name: 'p', ops: [], baseline } })).toMatchObject({
    mode: 'reload',
    reasons: ['baseline_schema:2'],
    files: next.files,
  });
});

describe('reasons', () => {
  const empty = plan();
  const one = plan([backend('a')]);

  it('name backends and profiles', () => {
    expect(reasons(one, empty)).toEqual([`profile_new:${profileOf(one)}`, 'backend_added:a']);
    expect(reasons(empty, one)).toEqual([`profile_removed:${profileOf(one)}`, 'backend_removed:a']);
    const changed = plan([backend('a', { body: 'filter trace\n' })]);
    expect(reasons(changed, one)).toEqual(['backend_changed:a', `profile_removed:${profileOf(one)}`]);
  });

  it('name core sections, also two of one name', () => {
    const sections = (text: string): RenderPlan => plan([section('x', 'cache a\n'), section('x', text)]);
    expect(reasons(sections('cache b\n'), sections('cache c\n'))).toEqual(['core_changed:x']);
    expect(reasons(sections('cache b\n'), plan([section('x', 'cache a\n')]))).toEqual(['core_added:x']);
  });

  it('name files by kind', () => {
    const entries = [{ map: 'hosts', key: 'a', value: 'b', provenance: provenanceOf('a') }];
    const file = { kind: 'file', name: 'x', text: 'y', reloadOnChange: false, secret: false } as const;
    const next = plan([], { entries, files: [{ ...file, provenance: provenanceOf('f') }] });
    expect(reasons(next, empty)).toEqual(['file_added:files/x', 'map_changed:maps/hosts.map']);
  });

  it('are there when nothing but the order differs', () => {
    const a = section('a', 'cache a\n');
    const b = section('b', 'cache b\n');
    expect(reasons(plan([a, b]), plan([b, a]))).toEqual(['layout_changed']);
  });

  it('are bounded', () => {
    const many = plan(Array.from({ length: 100 }, (_, index) => backend(`b${index}`)));
    const listed = reasons(many, empty);
    expect(listed).toHaveLength(65);
    expect(listed.at(-1)).toBe('more:37');
  });
});

it('sends only files that the pod lacks', () => {
  const baseline = plan([backend('a')]);
  const entries = [{ map: 'hosts', key: 'a', value: 'b', provenance: provenanceOf('a') }];
  const { files } = diff({ next: plan([backend('a')], { entries }), pod: { name: 'p', ops: [], baseline } });
  expect(files.map(({ path }) => path)).toEqual(['maps/hosts.map']);
});
