import { expect, test } from 'vitest';
import { MAIN_CONFIG, type Rendered, type Server } from '../contract/index.ts';
import { sha256 } from '../controller/sha256.ts';
import {
  backend,
  base,
  mapContent,
  profiles,
  provenanceOf,
  renderOutput,
  section,
  server,
} from '../testing/render-output.ts';
import { assemble } from './assemble.ts';
import { diff } from './diff/diff.ts';
import { PlanMemo } from './memo.ts';
import { withEndpoints } from './with-endpoints.ts';

const maps = { hosts: mapContent({ layer: 'host' }) };

/** A render of backends by name, each with a body and its servers. */
function render(
  backends: Readonly<Record<string, readonly [body: string, ...servers: Server[]]>>,
  { extra = '', host = 'a.test' } = {},
): Rendered {
  const output = renderOutput({
    pieces: [
      section('global', 'global\n    maxconn 100\n'),
      base,
      profiles,
      section('frontend http', `frontend http from base\n    bind :80\n    # ü ${extra}\n`),
      ...Object.entries(backends).map(([name, [body, ...servers]]) => backend(name, { body, servers })),
    ],
    entries: [{ map: 'hosts', key: host, value: 'a', provenance: provenanceOf('a') }],
  });
  return assemble(output, { maps }, new PlanMemo(sha256));
}

const at = (address: string, overrides: Partial<Server> = {}): Server =>
  server('p1', { address, ...overrides });
const memo = new PlanMemo(sha256);
const text = ({ files }: Rendered, path = MAIN_CONFIG): string => new TextDecoder().decode(files.read(path));

test('is what a render of the former one with these endpoints gives', () => {
  const before = render({ a: ['retries 3\n', at('10.0.0.1')], b: ['retries 4\n', at('10.0.0.2')] });
  const moved = { a: ['retries 3\n', at('10.0.0.9'), server('p2')], b: ['retries 4\n'] } as const;
  const next = render(
    { ...moved, c: ['retries 5\n', at('10.0.0.3')] },
    { extra: 'something longer', host: 'b.test' },
  );
  const made = withEndpoints(before, next, memo)!;
  const expected = render(moved);
  expect(made.plan).toEqual(expected.plan);
  expect(text(made)).toBe(text(expected));
  for (const { path } of made.files.entries) expect(text(made, path)).toBe(text(expected, path));
  const ops = ['server.add', 'server.set', 'server.del'];
  const pod = { name: 'a', ops, haproxyVersion: '3.4.7', baseline: before.plan };
  expect(diff({ next: made.plan, pod })).toMatchObject({ mode: 'runtime', reasons: expect.any(Array) });
  // On top of that again.
  const later = render({ a: ['retries 3\n'], b: ['retries 4\n', at('10.0.0.7')] }, { extra: 'x' });
  expect(withEndpoints(made, later, memo)!.plan).toEqual(
    render({ a: ['retries 3\n'], b: ['retries 4\n', at('10.0.0.7')] }).plan,
  );
});

test.each([
  ['the same servers', render({ a: ['retries 3\n', at('10.0.0.1')] }, { extra: 'x' })],
  ['a backend of another profile', render({ a: ['retries 4\n', at('10.0.0.9')] })],
  [
    'servers that may name files',
    render({ a: ['retries 3\n', at('10.0.0.9', { keywords: ['ca-file', 'ca/x.pem'] })] }),
  ],
  ['another backend', render({ b: ['retries 3\n', at('10.0.0.9')] })],
])('nothing is made of %s', (_, next) => {
  const before = render({ a: ['retries 3\n', at('10.0.0.1')] });
  expect(withEndpoints(before, next, memo)).toBeUndefined();
});
