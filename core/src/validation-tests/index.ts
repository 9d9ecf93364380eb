export type { AssertionResult, TestReport, TestResult } from './outcome.ts';
export { refuseFailures } from './refuse-failures.ts';
export { runValidationTests, type PreparedTest, type TestRun } from './run-validation-tests.ts';
export { testConfig, type ConfigUnderTest } from './test-config.ts';
