export { assemble, type Carried } from './assemble.ts';
export { diff } from './diff/diff.ts';
export type { Hash } from './hash.ts';
export {
  isOfRetainedProfile,
  NOTHING_RETAINED,
  retainProfiles,
  type ProfileRetention,
} from './retained-profiles.ts';
export { PlanMemo } from './memo.ts';
export { withEndpoints } from './with-endpoints.ts';
