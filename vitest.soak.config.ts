import { defineConfig } from 'vitest/config';
import TotalsReporter from './tools/totals-reporter.ts';

const resolve = { conditions: ['source'] };

/** The long runs: all tests with HAPTIC_SOAK=1, which raises their numbers, and those that only run here. */
export default defineConfig({
  resolve,
  ssr: { resolve },
  test: {
    name: 'soak',
    include: ['{core,agent,kube,cli,plugins/*}/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/kube/**'],
    env: { HAPTIC_SOAK: '1' },
    testTimeout: 3_600_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    reporters: ['default', new TotalsReporter()],
  },
});
