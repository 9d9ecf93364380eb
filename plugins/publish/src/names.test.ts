import { expect, test } from 'vitest';
import { installationLabel } from './names.ts';

test('an installation is a value that labels may have, and no other installation has it', () => {
  expect(installationLabel({ namespace: 'prod', name: 'haptic' })).toBe('prod.haptic');
  const [one, other] = ['a', 'b'].map((end) =>
    installationLabel({ namespace: 'n'.repeat(63), name: `${'x'.repeat(200)}${end}` }),
  );
  expect(one).toMatch(/^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/);
  expect(one).not.toBe(other);
});
