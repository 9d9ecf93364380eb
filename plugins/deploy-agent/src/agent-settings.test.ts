import { expect, test } from 'vitest';
import { agentSchema, agentSettings } from './agent-settings.ts';

const options = { applyTimeout: 1_000, poll: 2_000, driftInterval: 3_000, waves: { soak: 4_000, size: 1 } };

test('what the configuration says goes before the options', () => {
  expect(agentSettings(options, undefined)).toEqual({ ...options, port: 5_555 });
  const agent = agentSchema.parse({ port: 6_000, applyTimeout: '90s', waves: { soak: '0s' } });
  expect(agentSettings(options, { owned: { agent } })).toEqual({
    ...options,
    port: 6_000,
    applyTimeout: 90_000,
    waves: { soak: 0, size: 1 },
  });
});

test.each([
  [{ port: 0 }, 'port'],
  [{ driftInterval: '0s' }, 'longer than nothing'],
  [{ waves: { size: 0 } }, 'size'],
  [{ wave: {} }, 'wave'],
])('%j is refused', (agent, words) => {
  expect(JSON.stringify(agentSchema.safeParse(agent).error?.issues)).toContain(words);
});
