/** Writes the CustomResourceDefinitions that the chart ships: `npm run crds`. A test keeps them in step with the schemas. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { crdManifests } from '../cli/src/crds/manifests.ts';
import { clusterPreset } from '../cli/src/presets.ts';

const folder = fileURLToPath(new URL('../chart/crds', import.meta.url));
mkdirSync(folder, { recursive: true });
for (const [file, text] of Object.entries(crdManifests(clusterPreset({}, {})))) {
  writeFileSync(`${folder}/${file}`, text);
  console.log(`wrote chart/crds/${file}`);
}
