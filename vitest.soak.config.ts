import { defineConfig } from 'vitest/config';
import TotalsReporter from './tools/totals-reporter.ts';

const resolve = { conditions: ['source'] };

/** The long randomised runs: the same test files as `npm test`, with HAPTIC_SOAK=1 raising their numbers. */
export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    name: 'soak',
    include: ['test/**/*.soak.test.ts', '{core,agent,cli,plugins/*}/src/**/*.soak.test.ts'],
    env: { HAPTIC_SOAK: '1' },
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    reporters: ['verbose', new TotalsReporter()],
  },
});
