import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { shippedLibraries } from './shipped-libraries.ts';

test.each(shippedLibraries)('%s reads the same to kubectl and Helm (YAML 1.1) as to us (1.2)', (path) => {
  const text = readFileSync(path, 'utf8');
  expect(parse(text, { version: '1.1' })).toEqual(parse(text, { version: '1.2' }));
});
