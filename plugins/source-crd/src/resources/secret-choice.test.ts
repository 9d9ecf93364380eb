import type { KubeObject, ObjectInterest } from '@haptic/core/contract';
import { expect, test, vi } from 'vitest';
import { status } from '../../../../kube/src/testing/scripted-api.ts';
import {
  coreWatch,
  object,
  openScene,
  soon,
  type Scene,
} from '../../../../test/kube/source-crd/scripted-scene.ts';

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

/** As soon as somebody watches. */
const emit = (here: Scene, ...event: Parameters<Scene['event']>): Promise<void> =>
  vi.waitFor(() => here.event(...event), soon);

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
  await emit(here, MAPS, 'ADDED', naming('a', 'cert'));
  await untilTold(here, 'maps + a');
  await emit(here, MAPS, 'ADDED', naming('b', 'other'));
  await untilTold(here, 'secrets = other cert', 'maps + b');
  await emit(here, MAPS, 'ADDED', naming('c', 'second'));
  await untilTold(here, 'secrets = second other cert', 'maps + c');
  await emit(here, IN_N, 'MODIFIED', { ...secret('other'), data: { x: 'eA==' } });
  await untilTold(here, 'secrets + other');
  await emit(here, MAPS, 'DELETED', naming('b', 'other'));
  await untilTold(here, 'maps - b', 'secrets = second cert');
  expect(here.selectors).toEqual([BY_TYPE, byName('other'), byName('second')]);
});

test('comes before the object that names it, which is not kept back for one that is not there', async () => {
  const here = await open({}, naming('a', 'other'));
  have(here, secret('other'), secret('second'));
  await here.subscription.fill();
  const before = here.told.length;
  await emit(here, MAPS, 'MODIFIED', naming('a', 'second'));
  await untilTold(here, 'maps + a');
  await emit(here, MAPS, 'MODIFIED', naming('a', 'none'));
  await emit(here, MAPS, 'ADDED', naming('b', 'x,y'));
  await untilTold(here, 'maps + b', 'secrets = ', 'maps + a');
  expect(here.told.slice(before)).toEqual([
    'secrets = second',
    'maps + a',
    'maps + b',
    'secrets = ',
    'maps + a',
  ]);
});

test('keeps nobody back whose plugin fails, nor for ever whom the server does not answer', async () => {
  const here = await openScene(
    { maps: coreWatch('configmaps'), secrets: coreWatch('secrets') },
    {
      secrets({ metadata: { name } }) {
        if (name === 'bad') throw new Error('no');
        return [{ namespace: 'n', name }];
      },
    },
  );
  here.collections[MAPS] = [object('bad')];
  await here.subscription.fill();
  await emit(here, MAPS, 'MODIFIED', object('bad', { data: {} }));
  await untilTold(here, 'maps + bad');
  here.answer = ({ path }) => (path === IN_N ? [500, status(500, 'InternalError')] : undefined);
  await emit(here, MAPS, 'ADDED', object('late'));
  await vi.waitFor(() => expect(here.selectors).toContain(byName('late')), soon);
  expect(here.told.at(-1)).toBe('maps + bad');
  await untilTold(here, 'maps + late');
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
  await emit(here, MAPS, 'ADDED', naming('b', 'cert'));
  have(here, secret('other'), secret('cert'));
  await untilTold(here, 'secrets = cert other', 'maps + b');
  here.collections[MAPS] = [];
  await emit(here, '/api/v1/namespaces', 'DELETED', object('n'));
  await untilTold(here, 'maps = ', 'secrets = ');
});

test('stays as long as it is named when it is made anew with another type', async () => {
  const here = await open({}, naming('a', 'cert'));
  have(here, secret('cert', TLS), secret('other'));
  await here.subscription.fill();
  // What was to be looked at after the fill has been.
  await emit(here, MAPS, 'ADDED', naming('b', 'other'));
  await untilTold(here, 'secrets = other cert', 'maps + b');
  have(here, secret('cert'), secret('other'));
  await emit(here, SECRETS, 'DELETED', secret('cert', TLS));
  await untilTold(here, 'secrets - cert', 'secrets = other cert');
  await emit(here, IN_N, 'DELETED', secret('cert'));
  await untilTold(here, 'secrets - cert');
  await emit(here, SECRETS, 'ADDED', secret('cert', TLS));
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
