import { describe, expect, it } from 'vitest';
import type { Rendered, RetainedProfile, StateStore } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { assemble, PlanMemo } from '../plan/index.ts';
import { fakeClock, memoryLog } from '../testing/index.ts';
import { backend, base, profiles, renderOutput } from '../testing/render-output.ts';
import { KeptProfiles } from './kept-profiles.ts';

const { signal } = new AbortController();

function render(
  bodies: readonly string[],
  secret: readonly string[] = [],
  retained: readonly RetainedProfile[] = [],
): Rendered {
  const backends = [...bodies, ...secret].map((body) =>
    backend(`b-${sha256(body).slice(0, 8)}`, {
      body: `    http-request set-header x ${body}\n`,
      secret: secret.includes(body),
    }),
  );
  const output = renderOutput({ pieces: [base, profiles, ...backends] });
  return assemble(output, { maps: {} }, new PlanMemo(sha256), { retainedProfiles: retained });
}

function stage(documents: Map<string, string>) {
  const store: StateStore = {
    read: async (name) => documents.get(name),
    write: async (name, text) => void documents.set(name, text),
  };
  const clock = fakeClock();
  const log = memoryLog();
  return { kept: new KeptProfiles({ hash: sha256, clock, log, store }), clock, log };
}

describe('kept profiles', () => {
  it('are there after a restart, so that a backend that comes back needs no reload', async () => {
    const documents = new Map<string, string>();
    const before = stage(documents);
    before.kept.accepted(render(['one', 'two']));
    before.kept.accepted(render(['one'], [], before.kept.all));
    expect(before.kept.all).toHaveLength(2);
    await before.kept.close();
    const after = stage(documents);
    await after.kept.restore(signal);
    expect(after.kept.all).toEqual(before.kept.all);
    expect(Object.keys(render(['one'], [], after.kept.all).plan.profiles)).toEqual(
      Object.keys(render(['one'], [], before.kept.all).plan.profiles),
    );
    await after.clock.advance(25 * 60 * 60 * 1_000);
    after.kept.accepted(render(['one'], [], after.kept.all));
    expect(after.kept.all).toHaveLength(1);
  });

  it('are no secret ones', async () => {
    const documents = new Map<string, string>();
    const { kept } = stage(documents);
    kept.accepted(render(['plain'], ['hidden-words']));
    expect(kept.all).toHaveLength(2);
    await kept.close();
    expect(documents.get('profiles')).toContain('plain');
    expect(documents.get('profiles')).not.toContain('hidden-words');
  });

  it('are left behind where they are broken, or say something else than their name', async () => {
    const documents = new Map<string, string>();
    const before = stage(documents);
    before.kept.accepted(render(['one', 'two']));
    await before.kept.close();
    documents.set('profiles', documents.get('profiles')!.replace('x one', 'x evil'));
    const changed = stage(documents);
    await changed.kept.restore(signal);
    expect(changed.kept.all).toHaveLength(1);
    documents.set('profiles', '{');
    const broken = stage(documents);
    await broken.kept.restore(signal);
    expect(broken.kept.all).toEqual([]);
    expect(broken.log.records).toMatchObject([{ level: 'error' }]);
  });
});
