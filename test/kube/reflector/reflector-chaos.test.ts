import { declareChaos } from './chaos.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';

declareChaos(
  soak
    ? { objects: 10_000, cuts: 200, writes: 100, rounds: 5 }
    : { objects: 600, cuts: 20, writes: 20, rounds: 1 },
);
