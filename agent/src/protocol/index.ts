export * from './answer.ts';
export * from './apply.ts';
export * from './chunk-list.ts';
export * from './file-set-sum.ts';
export * from './layout.ts';
export * from './limits.ts';
export * from './operation.ts';
export * from './state.ts';
