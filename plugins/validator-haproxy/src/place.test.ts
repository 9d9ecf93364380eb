import { expect, test } from 'vitest';
import { placeOf } from './place.ts';

test.each([
  ["parsing [haproxy.cfg:44] : unknown keyword 'x' in 'backend' section", { path: 'haproxy.cfg', line: 44 }],
  [
    "Parsing [haproxy.cfg:7]: proxy 'in' has the same name as frontend 'in' declared at haproxy.cfg:1.",
    { line: 7 },
  ],
  ["[haproxy.cfg:9] : 'server out/a' : unknown keyword 'bogus'.", { line: 9 }],
  ["parsing [a.cfg:2] : parsing [a.cfg:2] : 'stats socket' : missing port", { path: 'a.cfg', line: 2 }],
  ['parsing [haproxy.cfg:8]: unmatched quote at position 31:\n  http-request', { line: 8, column: 31 }],
  ["backend 'b' : something", { backend: 'b' }],
  ["backend 'b', another thing", { backend: 'b' }],
  ["Proxy 'b': unable to find required default_backend: 'c'.", { backend: 'b' }],
])('the place of %j', (message, expected) => {
  expect(placeOf(message)).toMatchObject(expected);
});

test.each([
  'hlua: please set "tune.lua.bool-sample-conversion"',
  "'ca-file' : unable to load ca/none.pem.",
  "something about backend 'b' : not at the start",
])('no place in %j', (message) => {
  expect(placeOf(message)).toEqual({ text: message });
});

/** A value of one tenant must not point at the object of another. */
test.each([
  "parsing [haproxy.cfg:9] : unknown keyword 'parsing [maps/host.map:3] : x' in 'backend' section",
  "parsing [haproxy.cfg:9] : unknown keyword 'x at line 3 of file 'maps/host.map'.",
  "parsing [haproxy.cfg:9] : error detected in frontend 'in' while parsing 'http-request deny' rule : failed to parse sample expression <x at line 3 of file 'maps/host.map'.",
  "parsing [haproxy.cfg:9] : 'server a' : Lua runtime error: maps/host.map:3: boom",
  "parsing [haproxy.cfg:9] : 'bind :80' in section 'frontend' : 'name' : 'crt-list' : parsing [maps/host.map:3]: x",
  "parsing [haproxy.cfg:9] : unknown keyword 'a [haproxy.cfg:3] : b'",
])('a forged place does not count: %j', (message) => {
  expect(placeOf(message)).toMatchObject({ path: 'haproxy.cfg', line: 9 });
});

test('of a map line that names another line only the real one counts', () => {
  const pattern = "( at line 1 of file 'maps/other.map'.";
  const message =
    "parsing [haproxy.cfg:9] : error detected in frontend 'in' while parsing 'http-request set-var(txn.a)' rule : " +
    `invalid args in converter 'map_reg' : regex '${pattern}' is invalid (error=x, erroffset=1) at line 7 of file 'maps/a.map'.`;
  expect(placeOf(message)).toMatchObject({ path: 'maps/a.map', line: 7 });
});
