import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import LongestFirst from './tools/longest-first.ts';
import TotalsReporter from './tools/totals-reporter.ts';

const resolve = { conditions: ['source'] };
// What `globalSetup` imports is resolved in an environment of vitest's own, which does not take the setting over.
const shared = { resolve, ssr: { resolve }, environments: { __vitest__: { resolve } } };

// On few cores too: most tests wait for processes more than they work.
const maxWorkers = Math.max(2, availableParallelism() - 1);

export default defineConfig({
  test: {
    reporters: ['default', new TotalsReporter()],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        ...shared,
        test: {
          name: 'unit',
          maxWorkers,
          include: ['{core,agent,kube,prometheus,cli,plugins/*}/src/**/*.test.ts', 'tools/**/*.test.ts'],
          exclude: ['**/*.soak.test.ts'],
          testTimeout: 10_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'integration',
          maxWorkers,
          include: ['test/**/*.test.ts'],
          exclude: ['test/kube/**', '**/*.soak.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        ...shared,
        test: {
          name: 'kube',
          include: ['test/kube/**/*.test.ts'],
          exclude: ['**/*.soak.test.ts'],
          globalSetup: 'test/cluster/global-setup.ts',
          // They wait more than they work. A number of its own needs a turn of its own.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
