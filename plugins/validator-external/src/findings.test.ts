import { expect, test } from 'vitest';
import { findingsOf } from './findings.ts';
import type { Diagnostic } from './response.ts';

const isFile = (path: string): boolean => path === 'maps/a.map';

function ofError(diagnostic: Partial<Diagnostic>): unknown {
  const error = { path: 'maps/a.map', line: 3, column: 7, message: 'no', ...diagnostic };
  return findingsOf('policy', { result: 'error', errors: [error], warnings: [] }, isFile)[0];
}

test.each([
  [{}, { message: 'no', path: 'maps/a.map', line: 3, column: 7 }],
  [{ column: 0 }, { message: 'no', path: 'maps/a.map', line: 3 }],
  [{ line: 0 }, { message: 'no', path: 'maps/a.map' }],
  [{ path: '' }, { message: 'no' }],
  [{ path: '/etc/passwd' }, { message: '/etc/passwd: no' }],
  [{ message: ' ' }, { message: 'gave no message', path: 'maps/a.map', line: 3, column: 7 }],
])('%o becomes %o', (diagnostic, finding) => {
  expect(ofError(diagnostic)).toEqual({ judge: 'policy', severity: 'error', ...finding });
});

test('a flood of diagnostics is cut, errors stay errors', () => {
  const flood = Array.from({ length: 5_000 }, () => ({
    path: '',
    line: 0,
    column: 0,
    message: 'x'.repeat(9_000),
  }));
  const findings = findingsOf('policy', { result: 'error', errors: flood, warnings: flood }, isFile);
  expect(findings).toHaveLength(202);
  expect(findings[100]).toEqual({
    judge: 'policy',
    severity: 'error',
    message: 'and 4900 more of its errors',
  });
  expect(findings[201]).toEqual({
    judge: 'policy',
    severity: 'warning',
    message: 'and 4900 more of its warnings',
  });
  expect(findings[0]!.message).toHaveLength(4_000);
});
