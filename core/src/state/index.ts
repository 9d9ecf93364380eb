export { KeptDocument } from './kept-document.ts';
export { KeptProfiles, type KeptProfilesParts } from './kept-profiles.ts';
