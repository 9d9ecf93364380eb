import type { KubeObject, ObjectInterest } from '@haptic/core/contract';
import { expect, test, vi } from 'vitest';
import { coreWatch, object, openScene, soon, type Scene } from '../testing/scene.ts';

const [MAPS, SECRETS, IN_N] = ['/api/v1/configmaps', '/api/v1/secrets', '/api/v1/namespaces/n/secrets'];
const TLS = 'kubernetes.io/tls';
const NEVER = 'type!=helm.sh/release.v1,type!=kubernetes.io/service-account-token';
const BY_TYPE = `type=${TLS},${NEVER}`;
const byName = (name: string): string => `metadata.name=${name},type!=${TLS},${NEVER}`;

const secret = (name: string, type = 'Opaque'): KubeObject => object(name, { type });
const naming = (name: string, of: string): KubeObject => object(name, { data: { secret: of } });

/** What there is of Secrets, wherever somebody looks. */
function have({ collections }: Scene, ...secrets: readonly KubeObject[]): void {
  collections[SECRETS] = secrets;
  collections[IN_N] = secrets;
}

async function open(content: object = {}, ...maps: readonly KubeObject[]): Promise<Scene> {
  const here = await openScene({
    maps: coreWatch('configmaps'),
    secrets: { ...coreWatch('secrets'), ...content },
  });
  here.collections[MAPS] = maps;
  return here;
}

const untilTold = ({ told }: Scene, ...words: readonly string[]): Promise<void> =>
  vi.waitFor(() => expect(told.slice(-words.length)).toEqual(words), soon);

test('is asked for by type, and by name if its type does not bring it', async () => {
  const here = await open({}, naming('a', 'cert'), naming('b', 'other'));
  have(here, secret('cert', TLS), secret('other'), secret('nobodys'));
  await here.subscription.fill();
  expect(here.told.at(-1)).toBe('secrets = other cert');
  expect(here.selectors).toEqual([BY_TYPE, byName('other')]);
});

test('comes when it is named, changes, and goes when it is named no more; nothing else is asked for', async () => {
  const here = await open();
  have(here, secret('cert', TLS), secret('other'), secret('second'));
  await here.subscription.fill();
  here.event(MAPS, 'ADDED', naming('a', 'cert'));
  await untilTold(here, 'maps + a');
  here.event(MAPS, 'ADDED', naming('b', 'other'));
  await untilTold(here, 'secrets = other cert');
  here.event(MAPS, 'ADDED', naming('c', 'second'));
  await untilTold(here, 'secrets = second other cert');
  here.event(IN_N, 'MODIFIED', { ...secret('other'), data: { x: 'eA==' } });
  await untilTold(here, 'secrets + other');
  here.event(MAPS, 'DELETED', naming('b', 'other'));
  await untilTold(here, 'secrets = second cert');
  expect(here.selectors).toEqual([BY_TYPE, byName('other'), byName('second')]);
});

test("goes when whoever names it is somebody else's from now on", async () => {
  const own: ObjectInterest['own'] = {
    by: { apiVersion: 'v1', resources: 'namespaces' },
    rule: ({ length }) => ({ key: `${length}`, keep: () => length > 0 }),
  };
  const watches = { maps: coreWatch('configmaps'), secrets: coreWatch('secrets') };
  const here = await openScene(watches, { own });
  here.collections[MAPS] = [naming('a', 'other')];
  here.collections['/api/v1/namespaces'] = [object('n')];
  have(here, secret('other'));
  await here.subscription.fill();
  // What was to be looked at after the fill has been.
  here.event(MAPS, 'ADDED', naming('b', 'cert'));
  have(here, secret('other'), secret('cert'));
  await untilTold(here, 'secrets = cert other');
  here.collections[MAPS] = [];
  await vi.waitFor(() => here.event('/api/v1/namespaces', 'DELETED', object('n')), soon);
  await untilTold(here, 'maps = ', 'secrets = ');
});

test('stays as long as it is named when it is made anew with another type', async () => {
  const here = await open({}, naming('a', 'cert'));
  have(here, secret('cert', TLS), secret('other'));
  await here.subscription.fill();
  // What was to be looked at after the fill has been.
  here.event(MAPS, 'ADDED', naming('b', 'other'));
  await untilTold(here, 'secrets = other cert');
  have(here, secret('cert'), secret('other'));
  await vi.waitFor(() => here.event(SECRETS, 'DELETED', secret('cert', TLS)), soon);
  await untilTold(here, 'secrets - cert', 'secrets = other cert');
  here.event(IN_N, 'DELETED', secret('cert'));
  await untilTold(here, 'secrets - cert');
  here.event(SECRETS, 'ADDED', secret('cert', TLS));
  await untilTold(here, 'secrets + cert');
});

test('of a namespace that is not watched is not asked for, nor one that cannot be', async () => {
  const here = await open({ namespaces: ['other'] }, naming('a', 'x'));
  await here.subscription.fill();
  expect(here.selectors).toEqual([BY_TYPE]);
  const there = await open({}, naming('a', 'x,metadata.name!=x'), naming('b', ''), naming('c', '../x'));
  await there.subscription.fill();
  expect(there.selectors).toEqual([BY_TYPE]);
});

test('of a watch that selects by name comes whatever its type is', async () => {
  const here = await open({ fieldSelector: 'metadata.name=other' });
  have(here, secret('other'), secret('cert', TLS));
  await here.subscription.fill();
  expect(here.told.at(-1)).toBe('secrets = other');
  expect(here.selectors).toEqual([`metadata.name=other,${NEVER}`]);
});

test('is one of all others where very many are named, and only the named ones are kept', async () => {
  const names = Array.from({ length: 101 }, (_, index) => `secret-${index}`);
  const here = await open({}, ...names.map((name) => naming(name, name)));
  have(here, secret('cert', TLS), secret('secret-7'), secret('nobodys'));
  await here.subscription.fill();
  expect(here.told.at(-1)).toBe('secrets = secret-7 cert');
  expect(here.selectors).toEqual([BY_TYPE, `type!=${TLS},${NEVER}`]);
});
