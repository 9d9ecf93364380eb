import { declareLeaseChaos } from './lease-chaos.ts';

const soak = process.env['HAPTIC_SOAK'] === '1';

declareLeaseChaos({ rounds: soak ? 20 : 1 });
