export type { Deferred, Evaluation, Opening, RenderSubject, Settled } from './evaluation.ts';
export { Pipeline, type PipelineParts, type Prepared } from './pipeline.ts';
