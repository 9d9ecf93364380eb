import { redactText, type PlannedEvent, type QuarantinedObject } from '@haptic/core/contract';
import type { Occurrence } from '@haptic/kube';
import type { ConfigVerdict } from '../config-status/verdict.ts';
import { configRef } from '../names.ts';

/** What a template, or a library's model, wants the owner of an object to know. */
export function plannedOccurrence({ object, reason, message }: PlannedEvent): Occurrence {
  return { regarding: object, type: 'Warning', reason, action: 'Render', note: redactText(message) };
}

const INSTEAD = {
  accepted: 'its last accepted revision is served',
  unavailable: 'its routes answer 503',
  nothing: 'nothing of it is served',
} as const;

export function heldOccurrence({
  object,
  reason,
  instead,
  lostAtRestart = false,
}: QuarantinedObject): Occurrence {
  const later =
    lostAtRestart && instead === 'accepted' ? '; after a restart its routes would answer 503' : '';
  // HAProxy's words may be long: what becomes of the object stands first.
  const note = `refused, ${INSTEAD[instead]}${later}: ${redactText(reason)}`;
  return { regarding: object, type: 'Warning', reason: 'Quarantined', action: 'Validate', note };
}

/** Undefined for what is no more: nobody looks there. */
export function releasedOccurrence({
  object,
  because,
}: QuarantinedObject & { readonly because: 'mended' | 'deleted' }): Occurrence | undefined {
  if (because === 'deleted') return undefined;
  const note = 'it is accepted again';
  return { regarding: object, type: 'Normal', reason: 'Accepted', action: 'Validate', note };
}

export function configOccurrence({ version, reason, errors }: ConfigVerdict): Occurrence {
  const isAccepted = reason === 'ValidationSucceeded';
  return {
    regarding: configRef(version),
    type: isAccepted ? 'Normal' : 'Warning',
    reason,
    action: 'Validate',
    note: isAccepted
      ? `generation ${version.generation} serves`
      : `generation ${version.generation} does not serve: ${errors.join('\n')}`,
  };
}
