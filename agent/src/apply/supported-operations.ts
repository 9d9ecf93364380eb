import { isSupportedBy, OPERATION_NAMES, type OperationName } from '@haptic/core/contract';

/** What can be done to a running worker of this version; all of it while the version is not known. */
export function supportedOperations(version: string | undefined): readonly OperationName[] {
  return OPERATION_NAMES.filter((op) => version === undefined || isSupportedBy(version, op));
}
