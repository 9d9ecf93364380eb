import { describe, expect, it } from 'vitest';
import { parseJsonPath, readJsonPath } from './json-path.ts';

const value = {
  metadata: { name: 'web', labels: { 'a.b/c': 'x', "it's": 'y' } },
  ports: [
    { name: 'http', port: 80 },
    { name: 'https', port: 443, names: ['a', 'b'] },
  ],
  on: true,
  none: null,
  list: [[1], [2, 3]],
};

describe('a path', () => {
  it.each([
    ['$', [value], true],
    ['$.metadata.name', ['web'], true],
    ['$.metadata.labels["a.b/c"]', ['x'], true],
    [String.raw`$.metadata.labels['it\'s']`, ['y'], true],
    ['$.ports[0].port', [80], true],
    ['$.ports[-1].name', ['https'], true],
    ['$.ports[7]', [], true],
    ['$.nothing.below', [], true],
    ['$.metadata.name.length', [], true],
    ['$.toString', [], true],
    ['$.none', [null], true],
    ['$.ports[*].name', ['http', 'https'], false],
    ['$.metadata.labels.*', ['x', 'y'], false],
    ['$.list[*]', [[1], [2, 3]], false],
    ['$.list[*][*]', [1, 2, 3], false],
    ['$.ports[?@.name == "https"].port', [443], false],
    ["$.ports[?(@.name=='http')].port", [80], false],
    ['$.ports[?@.port == 443].names[1]', ['b'], false],
    ['$.ports[?@.names[0] == "a"].name', ['https'], false],
    ['$.ports[?@.name == null]', [], false],
  ])('%s', (text, found, single) => {
    const path = parseJsonPath(text);
    expect(readJsonPath(path, value)).toEqual(found);
    expect(path.single).toBe(single);
  });

  it.each([
    ['', 'its end'],
    ['ports', 'character 1'],
    ['$.', 'character 2'],
    ['$..name', 'character 2'],
    ['$.ports[', 'character 8'],
    ['$.ports[x]', 'character 8'],
    ['$.ports[?@.name]', 'character 8'],
    ['$.ports[?(@.name == "x"]', 'its end'],
    ['$.ports[?@.name == "x")]', 'its end'],
    ['$[(@.length-1)]', 'character 2'],
    [String.raw`$["\x"]`, 'its end'],
  ])('is not %j', (text, place) => {
    expect(() => parseJsonPath(text)).toThrow(`is not understood at ${place}: `);
  });

  it('takes no time that grows faster than its text', () => {
    expect(() => parseJsonPath(`$${'["a'.repeat(20_000)}`)).toThrow('not understood');
  });
});
