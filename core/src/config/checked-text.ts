import { z } from 'zod';
import { parseFieldPath } from '../contract/field-path.ts';
import { parseFieldSelector } from '../contract/field-selector.ts';
import { parseLabelSelector } from '../contract/label-selector.ts';
import { Refused } from '../contract/errors.ts';

/** Text that `parse` understands; what it throws is the message. The text itself stays as it is. */
export function checkedText(parse: (text: string) => unknown) {
  return z.string().superRefine((text, context) => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  });
}

export const fieldPath = checkedText(parseFieldPath);
export const labelSelector = checkedText(parseLabelSelector);
export const fieldSelector = checkedText(parseFieldSelector);
