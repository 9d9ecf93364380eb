import type { Reporter, TestModule } from 'vitest/node';

/** Ends a run with one plain line that scripts and people can read. */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const totals = { passed: 0, failed: unhandled.length, skipped: 0 };
    for (const module of modules) {
      if (module.errors().length > 0) totals.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') totals[state] += 1;
        else totals.failed += 1;
      }
    }
    console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
  }
}
