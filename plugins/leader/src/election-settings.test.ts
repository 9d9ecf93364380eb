import { describe, expect, test } from 'vitest';
import { DEFAULT_SETTINGS, electionOptions, electionSettings } from './election-settings.ts';

describe('leaderElection', () => {
  test('has defaults', () => {
    expect(electionSettings.parse(undefined)).toEqual(DEFAULT_SETTINGS);
    expect(electionSettings.parse({ leaseDuration: '30s' })).toMatchObject({ leaseDuration: 30_000 });
  });

  test.each([
    [{ leaseDuration: '12s' }, 'outlast the patience'],
    [{ retryPeriod: '5s' }, 'outlast the patience'],
    [{ retryPeriod: '0s' }, 'longer than nothing'],
    [{ leaseName: 'haptic-leader' }, 'leaseName'],
    [{ enabled: false }, 'enabled'],
    [{ lease: 'x' }, 'lease'],
  ])('refuses %j', (settings, words) => {
    expect(() => electionSettings.parse(settings)).toThrow(words);
  });

  test('the name of the Lease is an option: it is known before any configuration', () => {
    expect(electionOptions.parse({ leaseName: 'mine' })).toEqual({ enabled: true, leaseName: 'mine' });
    expect(() => electionOptions.parse({ leaseName: 'Not a name' })).toThrow('expected the name of a Lease');
  });
});
