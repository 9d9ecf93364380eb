export type { AssertionResult, TestReport, TestResult } from './outcome.ts';
export { refuseFailures } from './refuse-failures.ts';
export { shownLines } from './secrets.ts';
export type { TestObserver } from './stage.ts';
export { testConfig, type ConfigUnderTest } from './test-config.ts';
