import { expect, test } from 'vitest';
import { configOccurrence, heldOccurrence, plannedOccurrence, releasedOccurrence } from './occurrences.ts';

const object = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', namespace: 'shop', name: 'web' };
const held = { watch: 'ingresses', object, revision: 'r', reason: 'unknown keyword "x"', since: 0 };

test('a held object is told what is served in its place, first', () => {
  expect(heldOccurrence({ ...held, instead: 'unavailable' })).toEqual({
    regarding: object,
    type: 'Warning',
    reason: 'Quarantined',
    action: 'Validate',
    note: 'refused, its routes answer 503: unknown keyword "x"',
  });
  expect(heldOccurrence({ ...held, instead: 'accepted', lostAtRestart: true }).note).toBe(
    'refused, its last accepted revision is served; after a restart its routes would answer 503: unknown keyword "x"',
  );
});

test('one that is mended is told so, one that is gone is not', () => {
  expect(releasedOccurrence({ ...held, instead: 'nothing', because: 'mended' })).toMatchObject({
    type: 'Normal',
    reason: 'Accepted',
  });
  expect(releasedOccurrence({ ...held, instead: 'nothing', because: 'deleted' })).toBeUndefined();
});

test('what looks like a secret is left out', () => {
  const secret = 'password=hunter2';
  const notes = [
    heldOccurrence({ ...held, reason: secret, instead: 'nothing' }).note,
    plannedOccurrence({ object, reason: 'Ignored', message: secret }).note,
  ];
  expect(notes.join()).not.toContain('hunter2');
});

test('a config is told which generation it is about', () => {
  const version = { namespace: 'haptic', name: 'main', uid: 'u', generation: 7 };
  expect(configOccurrence({ version, reason: 'LoadGateFailed', errors: ['a', 'b'] })).toMatchObject({
    regarding: { kind: 'HAProxyTemplateConfig', namespace: 'haptic', name: 'main', uid: 'u' },
    type: 'Warning',
    reason: 'LoadGateFailed',
    note: 'generation 7 does not serve: a\nb',
  });
});
