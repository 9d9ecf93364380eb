import { describe, expect, it } from 'vitest';
import { failureOf, service } from '../testing/validation-test-rig.ts';

const broken = { fixtures: { services: [service('broken')] } };

describe('an assertion', () => {
  it.each([
    [{ type: 'contains', target: 'haproxy.cfg', pattern: '^  # service web weight 7$' }],
    [{ type: 'contains', target: 'map:names', pattern: '^web x$' }],
    [{ type: 'contains', target: 'plan', pattern: '"path": "maps/names.map"' }],
    [{ type: 'not_contains', target: 'haproxy.cfg', pattern: 'weight 8' }],
    [{ type: 'not_contains', target: 'events', pattern: '.' }],
    [{ type: 'equals', target: 'map:names', expected: 'api x\nweb x\n' }],
    [{ type: 'match_count', target: 'haproxy.cfg', pattern: '# service', expected: 2 }],
    [{ type: 'match_count', target: 'haproxy.cfg', pattern: 'nowhere', expected: 0 }],
    [{ type: 'match_order', target: 'map:names', patterns: ['^api', 'x$', '^web'] }],
    [{ type: 'match_order', target: 'haproxy.cfg', patterns: ['service', 'service'] }],
    [{ type: 'haproxy_valid' }],
    [{ type: 'deterministic' }],
  ])('holds: %j', async (assertion) => {
    expect(await failureOf(assertion)).toBeUndefined();
  });

  it.each([
    [{ type: 'rendering_error' }],
    [{ type: 'rendering_error', pattern: 'broken service' }],
    [{ type: 'contains', target: 'rendering_error', pattern: 'haproxyConfig:\\d+:\\d+: ' }],
    [{ type: 'not_contains', target: 'rendering_error', pattern: 'other' }],
  ])('holds of a render that fails: %j', async (assertion) => {
    expect(await failureOf(assertion, broken)).toBeUndefined();
  });

  it.each([
    [
      { type: 'contains', target: 'haproxy.cfg', pattern: 'service web weight 8' },
      'no match of /service web weight 8/ in haproxy.cfg\nsimilar lines:\n  N |   # service web weight 7\n  N |   # service api weight 1',
    ],
    [{ type: 'contains', target: 'map:names', pattern: 'zzz' }, 'no match of /zzz/ in map:names'],
    [
      { type: 'not_contains', target: 'haproxy.cfg', pattern: '# service' },
      'a match of /# service/ in haproxy.cfg\n  N |   # service api weight 1\n  N |   # service web weight 7',
    ],
    [
      { type: 'equals', target: 'map:names', expected: 'api x\nweb y\n' },
      'map:names is another text\nexpected:\n  N | web y\nactual:\n  N | web x',
    ],
    [
      { type: 'equals', target: 'map:names', expected: 'api x\nweb x' },
      'map:names is another text\nexpected:\n  (ends before)\nactual:\n  N | ',
    ],
    [
      { type: 'match_count', target: 'map:names', pattern: 'x$', expected: 3 },
      '2 matches of /x$/ in map:names, expected 3\n  N | api x\n  N | web x',
    ],
    [{ type: 'match_count', target: 'map:names', pattern: '', expected: 1 }, expect.stringContaining('more')],
    [
      { type: 'equals', target: 'map:name', expected: '' },
      'no file maps/name.map was rendered, did you mean "maps/names.map"?',
    ],
    [{ type: 'equals', target: 'file:x', expected: '' }, 'no file files/x was rendered'],
    [
      { type: 'match_order', target: 'map:names', patterns: ['^web', '^api'] },
      'no match of /^api/ in map:names after that of /^web/, only before\n  N | api x',
    ],
    [
      { type: 'match_order', target: 'map:names', patterns: ['^web', '^wbe x'] },
      'no match of /^wbe x/ in map:names',
    ],
    [{ type: 'rendering_error' }, 'it rendered without an error'],
    [{ type: 'contains', target: 'rendering_error', pattern: 'x' }, 'it rendered without an error'],
    [{ type: 'not_contains', target: 'rendering_error', pattern: 'x' }, 'it rendered without an error'],
  ])('fails: %j', async (assertion, expected) => {
    const failure = await failureOf(assertion);
    expect(failure?.replaceAll(/^ {2}\d+ \|/gm, '  N |')).toEqual(expected);
  });

  it.each([
    [{ type: 'contains', target: 'haproxy.cfg', pattern: 'x' }, /^rendering failed: .*broken service/],
    [{ type: 'not_contains', target: 'haproxy.cfg', pattern: 'x' }, /^rendering failed: .*broken service/],
    [{ type: 'haproxy_valid' }, /^rendering failed: .*broken service/],
    [{ type: 'deterministic' }, /^rendering failed: .*broken service/],
    [
      { type: 'routes', request: { path: '/' }, expect: { status: 200 } },
      /^rendering failed: .*broken service/,
    ],
    [{ type: 'jsonpath', target: 'plan', path: '$' }, /^rendering failed: .*broken service/],
    [
      { type: 'rendering_error', pattern: 'other words' },
      /^the error does not match \/other words\/:\n.*broken service/,
    ],
  ])('fails of a render that fails: %j', async (assertion, expected) => {
    expect(await failureOf(assertion, broken)).toMatch(expected);
  });

  it('takes no time that grows faster than the text', async () => {
    const fixtures = { services: [service('a'.repeat(60))] };
    expect(
      await failureOf({ type: 'contains', target: 'haproxy.cfg', pattern: '(a+)+(a+)+(a+)+b' }, { fixtures }),
    ).toMatch(/no match/);
  });
});
