export { fixtureView, overlay, type Overlay } from './snapshot.ts';
export { Store } from './store.ts';
export { Substitutions } from './substitution.ts';
