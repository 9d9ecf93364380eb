export { ALL_JUDGES, type Evaluation, type RenderSubject, type Subject } from './evaluation.ts';
export { Pipeline, type PipelineParts, type Prepared } from './pipeline.ts';
