import { declareChaos } from './chaos.ts';

await declareChaos({ objects: 10_000, cuts: 200, writes: 100, rounds: 5 });
