import { declareChaos } from './chaos.ts';

await declareChaos({ objects: 600, cuts: 20, writes: 20, rounds: 1 });
