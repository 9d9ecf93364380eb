import { OPERATION_NAMES, OPERATION_SINCE, type OperationName } from '@haptic/core/contract';
import { atLeast } from '../haproxy/version.ts';

/** What can be done to a running worker of this version; all of it while the version is not known. */
export function supportedOperations(version: string | undefined): readonly OperationName[] {
  return OPERATION_NAMES.filter((op) => {
    const since = OPERATION_SINCE[op];
    return since === undefined || version === undefined || atLeast(version, ...since);
  });
}
