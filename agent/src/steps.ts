/** The moments of an apply between which a crash must lose nothing, roughly in their order; tests kill the process at each. */
export const STEPS = [
  // The fence has the request.
  'entered',
  // The parts of the plan are stored.
  'stored-plan',
  // A spare tree becomes an unfinished one.
  'reused',
  'staging',
  // Before each file.
  'staged-file',
  'staged-files',
  // The unfinished tree has its record.
  'recorded',
  'staged',
  // One of the links names another tree.
  'pointed',
  'committed',
  // HAProxy took some operations.
  'operated',
  'changed',
  // HAProxy has loaded the files, or refused them, and nobody else knows.
  'reloaded',
  'refused',
  'loaded',
  'answered',
  'collecting',
] as const;
export type Step = (typeof STEPS)[number];
