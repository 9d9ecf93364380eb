import { describe, expect, it } from 'vitest';
import type { StoreChange } from '../contract/index.ts';
import { fakeClock } from '../testing/index.ts';
import { ChangedObjects } from './changed-objects.ts';

const added = (...names: readonly string[]): readonly StoreChange[] =>
  names.map((name) => ({ watch: 'x', type: 'added', object: { namespace: 'ns', name } }) as StoreChange);

describe('what a reconcile answers', () => {
  it('is named once and counted from the first change', async () => {
    const clock = fakeClock();
    const changed = new ChangedObjects(clock);
    const since = clock.now();
    changed.add(added('a'));
    await clock.advance(10);
    changed.add(added('a', 'b'));
    expect(changed.take()).toEqual({ changes: ['added x ns/a', 'added x ns/b'], since });
    expect(changed.take()).toEqual({ changes: [], since: since + 10 });
  });

  it('is answered again when nothing came of it, with what is new', async () => {
    const clock = fakeClock();
    const changed = new ChangedObjects(clock);
    const since = clock.now();
    changed.add(added('a'));
    changed.take();
    await clock.advance(10);
    changed.add(added('b'));
    changed.putBack();
    changed.putBack();
    expect(changed.take()).toEqual({ changes: ['added x ns/a', 'added x ns/b'], since });
  });

  it('lists some of many, whenever they come', () => {
    const changed = new ChangedObjects(fakeClock());
    changed.add(added(...Array.from({ length: 25 }, (_, index) => `${index}`)));
    changed.take();
    changed.add(added('0', 'new'));
    changed.putBack();
    const { changes } = changed.take();
    expect(changes).toHaveLength(21);
    expect(changes.at(-1)).toBe('and 6 more');
  });
});
