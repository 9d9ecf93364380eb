export { PacedSlot } from './paced-slot.ts';
export type { Unjudged } from './pending-checks.ts';
export { RenderGate, type RenderGateParts } from './render-gate.ts';
