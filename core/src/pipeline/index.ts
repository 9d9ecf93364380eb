export type { Deferred, Evaluation, Opening, RenderSubject } from './evaluation.ts';
export { Pipeline, type PipelineParts, type Prepared } from './pipeline.ts';
