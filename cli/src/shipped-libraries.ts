import { fileURLToPath } from 'node:url';

/** The shipped template libraries in merge order, from the chart that is shipped with the program. */
export const shippedLibraries: readonly string[] = ['base', 'ingress'].map((name) =>
  fileURLToPath(new URL(`../../chart/libraries/${name}.yaml`, import.meta.url)),
);
