import { describe, expect, it } from 'vitest';
import { OPERATION_NAMES, type Rendered, type RetainedProfile } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import type { RenderOutput } from '../templates/output.ts';
import {
  backend,
  base,
  profiles as profilesPlace,
  provenanceOf,
  renderOutput,
  section,
} from '../testing/render-output.ts';
import { assemble } from './assemble.ts';
import { canonicalJson } from '../values/canonical-json.ts';
import { diff } from './diff/diff.ts';
import { PlanMemo } from './memo.ts';
import { NOTHING_RETAINED, retainProfiles, type ProfileRetention } from './retained-profiles.ts';

const HOUR = 3_600_000;

interface Rest {
  readonly retained?: readonly RetainedProfile[];
  readonly memo?: PlanMemo;
  readonly output?: Partial<RenderOutput>;
}

function render(bodies: readonly string[], { retained = [], memo, output }: Rest = {}): Rendered {
  const backends = bodies.map((body, index) => backend(`b${index}`, { body }));
  const all = renderOutput({ pieces: [base, profilesPlace, ...backends], ...output });
  return assemble(all, { maps: {} }, memo ?? new PlanMemo(sha256), { retainedProfiles: retained });
}

function retain(previous: ProfileRetention, rendered: Rendered, now: number): ProfileRetention {
  return retainProfiles(previous, rendered, now, sha256);
}

const names = ({ profiles }: { profiles: readonly RetainedProfile[] }): readonly string[] =>
  profiles.map(({ name }) => name);
const profilesIn = ({ plan }: Rendered): readonly string[] => Object.keys(plan.profiles);

const two = render(['retries 1\n', 'retries 2\n']);
const kept = retain(NOTHING_RETAINED, two, 0);

describe('a profile that no backend has any more', () => {
  const one = render(['retries 1\n'], { retained: kept.profiles });

  it('stays in the file as it was', () => {
    expect(profilesIn(one)).toEqual(profilesIn(two));
    const [, , , second] = two.plan.sections;
    expect(one.plan.sections.map(({ name, digest }) => [name, digest])).toContainEqual([
      second!.name,
      second!.digest,
    ]);
  });

  it('spares the next backend that wants it a reload', () => {
    const again = render(['retries 1\n', 'retries 2\n'], { retained: kept.profiles });
    const pod = { name: 'p', haproxyVersion: '3.4.7', ops: OPERATION_NAMES };
    expect(diff({ next: one.plan, pod: { ...pod, baseline: two.plan } }).reasons).toEqual([
      'backend_removed:b1',
    ]);
    expect(diff({ next: again.plan, pod: { ...pod, baseline: one.plan } })).toMatchObject({
      mode: 'runtime',
      reasons: ['backend_added:b1'],
    });
  });

  it('goes after a day', () => {
    expect(names(retain(kept, one, 24 * HOUR - 1))).toHaveLength(2);
    const late = retain(kept, one, 24 * HOUR);
    expect(names(late)).toEqual(profilesIn(render(['retries 1\n'])));
    expect(names(retain(late, one, 25 * HOUR))).toEqual(names(late));
  });

  it('is one of 256 at most: who was used last stays', () => {
    const many = Array.from({ length: 300 }, (_, index) => `retries ${index}\n`);
    let retention = NOTHING_RETAINED;
    for (const [index, body] of many.entries()) {
      retention = retain(retention, render([body], { retained: retention.profiles }), index);
    }
    expect(retention.profiles).toHaveLength(257);
    const first = profilesIn(render([many[0]!]))[0];
    const late = profilesIn(render([many[200]!]))[0];
    expect(names(retention)).not.toContain(first);
    expect(names(retention)).toContain(late);
  });
});

it('does not change a render but by what is in the file', () => {
  const plan = (rest: Rest): string => canonicalJson(render(['retries 1\n', 'retries 2\n'], rest).plan);
  expect(plan({ retained: kept.profiles })).toBe(plan({}));
});

it('is the identical list until another profile comes or goes', () => {
  expect(retain(kept, two, HOUR).profiles).toBe(kept.profiles);
  expect(retain(kept, render(['retries 3\n']), HOUR).profiles).not.toBe(kept.profiles);
});

describe('what a profile may name', () => {
  it('is there, or the profile is not', () => {
    const other = { pieces: [base, section('users', 'userlist u\n'), profilesPlace, backend('b0')] };
    expect(profilesIn(render([], { retained: kept.profiles, output: other }))).toHaveLength(1);
  });

  it('can be a file', () => {
    const file = {
      kind: 'file',
      name: 'oops.http',
      text: 'x',
      reloadOnChange: true,
      secret: false,
      provenance: provenanceOf('f'),
    } as const;
    const body = ['errorfile 503 files/oops.http\n'];
    const with503 = retain(NOTHING_RETAINED, render(body, { output: { files: [file] } }), 0);
    const after = (files: RenderOutput['files']): readonly string[] =>
      profilesIn(
        render([], {
          retained: with503.profiles,
          output: { files, pieces: [base, profilesPlace] },
        }),
      );
    expect(after([file])).toHaveLength(1);
    expect(after([])).toEqual([]);
  });
});

it('keeps what is secret marked so', () => {
  const pieces = [base, profilesPlace, backend('b', { body: 'retries 1\n', secret: true })];
  const { profiles } = retain(NOTHING_RETAINED, render([], { output: { pieces } }), 0);
  const { plan } = render([], { retained: profiles, output: { pieces: [base, profilesPlace] } });
  expect(plan.sections.find(({ kind }) => kind === 'profile')).toMatchObject({ secret: true });
});

it('needs no place for what it does not write', () => {
  expect(profilesIn(render([], { retained: kept.profiles, output: { pieces: [base] } }))).toEqual([]);
});

it('is the same with and without what the assembly before handed on', () => {
  const memo = new PlanMemo(sha256);
  for (const retained of [[], kept.profiles, kept.profiles.slice(1), kept.profiles]) {
    for (const bodies of [['retries 1\n'], ['retries 2\n', 'retries 1\n'], []]) {
      const output = bodies.length === 0 ? { pieces: [base, profilesPlace] } : {};
      const warm = render(bodies, { retained, memo, output });
      expect(canonicalJson(warm.plan)).toBe(canonicalJson(render(bodies, { retained, output }).plan));
    }
  }
});
