import { afterAll, onTestFinished } from 'vitest';

type Cleanup = () => void | Promise<void>;

const ofFile: Cleanup[] = [];

/**
 * Runs at the end of the running test, or of the file when called outside of one (`beforeAll`), in reverse order. A test
 * marked `concurrent` must clean up by itself: vitest knows only one running test.
 */
export function onCleanup(cleanup: Cleanup): void {
  try {
    onTestFinished(cleanup);
  } catch {
    ofFile.push(cleanup);
  }
}

afterAll(async () => {
  for (const cleanup of ofFile.splice(0).reverse()) await cleanup();
});
