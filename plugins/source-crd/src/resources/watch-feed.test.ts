import type { WatchContent } from '@haptic/core/contract';
import { expect, test, vi } from 'vitest';
import { status } from '../../../../kube/src/testing/scripted-api.ts';
import {
  object,
  openScene,
  served,
  soon,
  unset,
  type Scene,
} from '../../../../test/kube/source-crd/scripted-scene.ts';

const things: WatchContent = { ...unset, apiVersions: ['a.example/v1'], resources: 'things', optional: true };

/** The server's lists of kinds once more, and what follows. */
async function look({ discovery, subscription }: Scene): Promise<void> {
  await discovery.refresh();
  subscription.resolve();
}

const THINGS = '/apis/a.example/v1/things';

test('a kind that discovery does not list stays until its collection is gone', async () => {
  const here = await openScene({ things });
  here.groups = [served('a.example', ['things'])];
  here.collections[THINGS] = [object('a')];
  await here.discovery.refresh();
  await here.subscription.fill();
  expect(here.told).toEqual(['things = a']);

  here.groups = [];
  const before = here.lists(THINGS);
  await look(here);
  // It asked, and was told that the collection is there.
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(before), soon);
  here.event(THINGS, 'ADDED', object('b'));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things + b'), soon);

  // A server that cannot say is no proof either.
  const later = here.lists(THINGS);
  here.answer = ({ path }) => (path === THINGS ? [503, status(503, 'ServiceUnavailable')] : undefined);
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(later + 1), soon);
  expect(here.told.at(-1)).toBe('things + b');

  here.answer = ({ path }) => (path === THINGS ? [404, status(404, 'NotFound')] : undefined);
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things gone'), soon);
});

test('a kind that is listed again meanwhile was never gone', async () => {
  const here = await openScene({ things });
  const groups = [served('a.example', ['things'])];
  here.groups = groups;
  here.collections[THINGS] = [object('a')];
  await here.discovery.refresh();
  await here.subscription.fill();
  here.groups = [];
  here.answer = ({ query }) => ('watch' in query ? undefined : [503, status(503, 'ServiceUnavailable')]);
  const before = here.lists(THINGS);
  await look(here);
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(before), soon);
  here.groups = groups;
  await look(here);
  here.answer = () => undefined;
  here.event(THINGS, 'ADDED', object('b'));
  await vi.waitFor(() => expect(here.told.at(-1)).toBe('things + b'), soon);
  expect(here.told).toEqual(['things = a', 'things + b']);
});

test('an optional kind that was never listed is not told to be absent before the server says so', async () => {
  const here = await openScene({ things });
  here.answer = () => [500, status(500, 'InternalError')];
  const filling = here.subscription.fill();
  await vi.waitFor(() => expect(here.lists(THINGS)).toBeGreaterThan(1), soon);
  expect(here.told).toEqual([]);
  here.answer = () => [404, status(404, 'NotFound')];
  await filling;
  expect(here.told).toEqual(['things gone']);
});

test('an optional kind that may not be read is absent where it is not listed', async () => {
  const here = await openScene({ things });
  here.answer = () => [403, status(403, 'Forbidden')];
  await here.subscription.fill();
  expect(here.told).toEqual(['things gone']);
});
