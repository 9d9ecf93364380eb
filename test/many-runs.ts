import * as fc from 'fast-check';

/** Runs of each property that does not say itself how many: chance finds in thousands what it misses in a hundred. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), numRuns: 3_000 });
