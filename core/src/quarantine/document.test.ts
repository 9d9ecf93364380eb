import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refOf, type KubeObject } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import { Store } from '../store/index.ts';
import { describeQuarantine, DOCUMENT_BUDGET, parseQuarantine } from './document.ts';
import type { Entry } from './entry.ts';
import { keyOf, Revisions } from './identity.ts';
import { KnownRevisions } from './known-revisions.ts';

const revisions = new Revisions(sha256);

/** Not compressible, so that it counts. */
const noise = fc.tuple(fc.integer(), fc.integer({ min: 0, max: 20_000 })).map(([seed, length]) => {
  let text = '';
  for (let at = 0; text.length < length; at++) text += sha256(`${seed} ${at}`);
  return text.slice(0, length);
});

const objects: fc.Arbitrary<KubeObject> = fc.record({
  apiVersion: fc.constantFrom('v1', 'networking.k8s.io/v1'),
  kind: fc.constantFrom('Ingress', 'Secret', 'Service'),
  metadata: fc.record(
    {
      name: fc.stringMatching(/^[a-z]{1,9}$/),
      namespace: fc.constantFrom('a', 'b'),
      resourceVersion: fc.string(),
    },
    { requiredKeys: ['name', 'namespace'] },
  ),
  spec: noise.map((text) => ({ text })),
});

const entries = fc
  .array(
    fc.tuple(
      objects,
      objects,
      fc.string({ maxLength: 2_000 }),
      fc.constantFrom('accepted', 'unavailable', 'nothing'),
      fc.boolean(),
    ),
    { maxLength: 40 },
  )
  .map((all) =>
    all.map(([object, other, reason, instead, doubtful], index): Entry => {
      const named = { ...object, metadata: { ...object.metadata, name: `${object.metadata.name}-${index}` } };
      const accepted = { ...named, spec: other['spec'] };
      return {
        watch: named.kind.toLowerCase(),
        object: refOf(named),
        revision: revisions.of(named),
        reason,
        instead,
        ...(instead === 'accepted' && { accepted }),
        since: index,
        refusedAt: index,
        basis: 'basis',
        doubtful,
      };
    }),
  );

/** What makes up the Secrets of the entries, as text and as digests. */
function secretsIn(all: readonly Entry[]): readonly string[] {
  return all
    .filter(({ object }) => object.kind === 'Secret')
    .flatMap(({ accepted, revision }) => {
      const { text } = (accepted?.['spec'] ?? { text: '' }) as { readonly text: string };
      return [
        ...(text.length < 16 ? [] : [text.slice(0, 64)]),
        ...(revision.startsWith('write:') ? [] : [revision]),
      ];
    });
}

describe('the document of a quarantine', () => {
  it('holds its budget, every entry, and nothing of a Secret', () => {
    fc.assert(
      fc.property(entries, (all) => {
        const { text, lost } = describeQuarantine(all, [{ namespace: 'a', count: 3, at: 1, watches: ['x'] }]);
        expect(text.length).toBeLessThanOrEqual(DOCUMENT_BUDGET);
        for (const secret of secretsIn(all)) expect(text).not.toContain(secret);
        const { entries: read, offences } = parseQuarantine(text);
        expect(offences).toHaveLength(1);
        expect(read.map(({ object }) => object)).toEqual(all.map(({ object }) => object));
        for (const [index, entry] of read.entries()) {
          const before = all[index]!;
          const isLost = lost.has(keyOf(before.watch, before.object));
          expect(entry.accepted).toEqual(isLost ? undefined : before.accepted);
          expect(entry.instead).toBe(
            isLost && before.instead === 'accepted' ? 'unavailable' : before.instead,
          );
          expect(before.reason.startsWith(entry.reason)).toBe(true);
          if (before.object.kind === 'Secret') expect(isLost || before.accepted === undefined).toBe(true);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('drops the largest accepted revisions first', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 20_000, max: 60_000 }), (all, budget) => {
        const { lost } = describeQuarantine(all, [], budget);
        const size = (entry: Entry): number => JSON.stringify(entry.accepted ?? '').length;
        const open = all.filter(({ object, accepted }) => object.kind !== 'Secret' && accepted !== undefined);
        const [gone, kept] = [true, false].map((is) =>
          open.filter((entry) => lost.has(keyOf(entry.watch, entry.object)) === is).map(size),
        );
        // Packed sizes differ a little from plain ones.
        if (gone!.length > 0 && kept!.length > 0)
          expect(Math.min(...gone!)).toBeGreaterThan(Math.max(...kept!) * 0.8);
      }),
    );
  });

  it.each(['', 'null', '{}', '{"version":2}', '{"version":1,"entries":[],"offences":[{"count":0}]}'])(
    'is not taken from %j',
    (text) => {
      expect(() => parseQuarantine(text)).toThrow();
    },
  );

  it('does not serve an accepted revision of another object, or a bomb', () => {
    const entry: Entry = {
      watch: 'w',
      object: { apiVersion: 'v1', kind: 'Ingress', namespace: 'a', name: 'x' },
      revision: 'r',
      reason: '',
      instead: 'accepted',
      accepted: { apiVersion: 'v1', kind: 'Ingress', metadata: { name: 'other', namespace: 'a' } },
      since: 0,
      refusedAt: 0,
      basis: '',
      doubtful: false,
    };
    const [read] = parseQuarantine(describeQuarantine([entry], []).text).entries;
    expect(read).toMatchObject({ instead: 'unavailable' });
    expect(read).not.toHaveProperty('accepted');
    const bomb = { ...entry.accepted!, spec: 'x'.repeat(5 * 1024 * 1024) };
    const { text } = describeQuarantine([{ ...entry, accepted: bomb }], []);
    expect(() => parseQuarantine(text)).toThrow();
  });
});

describe('marks of what was accepted', () => {
  it('tell it from what was not, and hold nothing of a Secret', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(objects, { selector: ({ metadata }) => `${metadata.namespace}/${metadata.name}` }),
        (all) => {
          const store = new Store({ w: { indexBy: [], ignoreFields: [] } });
          store.replace('w', all);
          const view = store.view();
          const known = KnownRevisions.parse(
            KnownRevisions.describe(view, 'basis', revisions, sha256),
            sha256,
          );
          expect(known.basis).toBe('basis');
          for (const object of view.watch('w').list()) {
            const key = keyOf('w', object.metadata);
            expect(known.has(key, revisions.of(object))).toBe(object.kind !== 'Secret');
            expect(known.has(key, revisions.of({ ...object, spec: { other: true } }))).toBe(false);
          }
        },
      ),
    );
  });
});
