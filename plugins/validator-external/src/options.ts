import { z } from 'zod';
import { validatorName } from './validators.ts';

export const options = z.strictObject({
  /**
   * Validators that `haptic validate` does not ask, because they do not run where it does. The controller asks them all the
   * same: nothing that is published goes past a declared judge.
   */
  skip: z.array(validatorName).default([]),
});
