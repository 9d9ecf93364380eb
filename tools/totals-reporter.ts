import type { Reporter, TestCase, TestModule } from 'vitest/node';

/** Says what was skipped and why, and ends a run with one plain line that scripts and people can read. */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const totals = { passed: 0, failed: unhandled.length, skipped: 0 };
    const skips = new Map<string, number>();
    for (const module of modules) {
      if (module.errors().length > 0) totals.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') totals.failed += 1;
        else totals[state] += 1;
        if (state === 'skipped') count(skips, `${module.relativeModuleId}: ${reasonOf(test)}`);
      }
    }
    for (const [reason, tests] of skips) console.log(`skipped ${tests}: ${reason}`);
    console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
  }
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** What the test said when it skipped itself; else its outermost suite, whose title says why. */
function reasonOf(test: TestCase): string {
  const result = test.result();
  if (result.state === 'skipped' && result.note !== undefined) return result.note;
  let outermost: string = test.name;
  for (let parent = test.parent; parent.type === 'suite'; parent = parent.parent) outermost = parent.name;
  return outermost;
}
