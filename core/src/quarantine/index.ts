export type { Failure } from './complaints.ts';
export type { Draft } from './draft.ts';
export { evaluateAround, evaluating, type Around, type Attempt, type Culprit } from './evaluate-around.ts';
export { Quarantine, type QuarantineParts } from './quarantine.ts';
export { SecurityFieldsOfKinds } from './security-fields.ts';
export { tryOnTheSide } from './try-on-the-side.ts';
