import type { KubeObject } from '@haptic/core/contract';
import { expect, test } from 'vitest';
import { coreWatch, object, openScene } from '../../../../test/kube/source-crd/scripted-scene.ts';
import { Interests } from './interests.ts';

const resource = { group: '', version: 'v1', resource: 'secrets' };
const secret = (name: string, type = 'Opaque'): KubeObject => object(name, { type });

test('Secrets are wanted by type and by reference, of anybody who watches', async () => {
  const here = await openScene({ maps: coreWatch('configmaps'), secrets: coreWatch('secrets') });
  here.collections['/api/v1/configmaps'] = [object('a', { data: { secret: 'named' } })];
  await here.subscription.fill();
  const wanted = (one: KubeObject): boolean => here.interests.isWanted(resource, one);
  expect(['named', 'cert', 'other'].map((name) => wanted(secret(name)))).toEqual([true, false, false]);
  expect(wanted(secret('other', 'kubernetes.io/tls'))).toBe(true);
  const stop = here.interests.followSecrets(({ metadata }) => metadata.name === 'other');
  expect(wanted(secret('other'))).toBe(true);
  stop();
  expect(wanted(secret('other'))).toBe(false);
});

test('all are where nobody watches Secrets, and so is what has no rule', () => {
  const interests = new Interests();
  expect(interests.isWanted(resource, secret('other'))).toBe(true);
  expect(interests.isWanted({ ...resource, resource: 'configmaps' }, secret('other'))).toBe(true);
});
