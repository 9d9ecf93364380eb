export { fixtureView, overlay, type Proposal } from './snapshot.ts';
export { Store } from './store.ts';
export { Substitutions } from './substitution.ts';
