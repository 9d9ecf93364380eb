export type { Controller, ControllerOptions, RenderedOnce } from './api.ts';
export { composeController, type TemplateEngine } from './compose.ts';
export { createController } from './create-controller.ts';
export type { Validated } from './validate-once.ts';
export { sha256 } from './sha256.ts';
