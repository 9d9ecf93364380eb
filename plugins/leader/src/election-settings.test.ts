import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS, electionSettings } from './election-settings.ts';

describe('leaderElection', () => {
  test('has defaults', () => {
    expect(electionSettings.parse(undefined)).toEqual(DEFAULT_SETTINGS);
    expect(electionSettings.parse({ leaseDuration: '30s' })).toMatchObject({ leaseDuration: 30_000 });
  });

  test.each([
    [{ leaseDuration: '12s' }, 'outlast the patience'],
    [{ retryPeriod: '5s' }, 'outlast the patience'],
    [{ retryPeriod: '0s' }, 'longer than nothing'],
    [{ leaseName: 'Not a name' }, 'expected the name of a Lease'],
    [{ lease: 'x' }, 'lease'],
  ])('refuses %j', (settings, words) => {
    expect(() => electionSettings.parse(settings)).toThrow(words);
  });
});
