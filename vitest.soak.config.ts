import { defineConfig } from 'vitest/config';
import TotalsReporter from './tools/totals-reporter.ts';

const resolve = { conditions: ['source'] };
// What `globalSetup` imports is resolved in an environment of vitest's own, which does not take the setting over.
const shared = { resolve, ssr: { resolve }, environments: { __vitest__: { resolve } } };
const long = {
  env: { HAPTIC_SOAK: '1' },
  testTimeout: 3_600_000,
  hookTimeout: 120_000,
  fileParallelism: false,
};

/** The long runs: all tests with HAPTIC_SOAK=1, which raises their numbers, and those that only run here. */
export default defineConfig({
  test: {
    reporters: ['default', new TotalsReporter()],
    projects: [
      {
        ...shared,
        test: {
          ...long,
          name: 'soak-unit',
          include: ['{core,agent,kube,prometheus,cli,plugins/*}/src/**/*.test.ts'],
          setupFiles: 'test/many-runs.ts',
        },
      },
      {
        ...shared,
        test: {
          ...long,
          name: 'soak',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/kube/**'],
        },
      },
      {
        ...shared,
        test: {
          ...long,
          name: 'soak-kube',
          include: ['test/kube/**/*.test.ts'],
          globalSetup: 'test/cluster/global-setup.ts',
        },
      },
    ],
  },
});
