export type { LatchReason } from './latch.ts';
export { PacedSlot } from './paced-slot.ts';
export type { Unjudged } from './pending-checks.ts';
export { RenderGate, type GateStatus, type RenderGateParts } from './render-gate.ts';
