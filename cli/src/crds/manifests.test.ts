import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clusterPreset } from '../presets.ts';
import { crdManifests } from './manifests.ts';

const folder = new URL('../../../chart/crds/', import.meta.url);

test('the chart ships the definitions that the schemas give (npm run crds writes them)', () => {
  const shipped = Object.fromEntries(
    readdirSync(folder).map((file) => [file, readFileSync(new URL(file, folder), 'utf8')]),
  );
  expect(shipped).toEqual(crdManifests(clusterPreset({}, {})));
});
