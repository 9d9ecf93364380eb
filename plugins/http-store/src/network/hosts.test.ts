import { describe, expect, it } from 'vitest';
import { HostRules, isHostPattern } from './hosts.ts';

describe('hosts', () => {
  it('are none unless they are named', () => {
    expect(new HostRules([]).allows('example.com')).toBe(false);
  });

  it.each([
    ['example.com', ['example.com', 'example.com.'], ['a.example.com', 'example.com.evil.org', 'example.co']],
    ['*.example.com', ['a.example.com', 'a.b.example.com'], ['example.com', 'aexample.com']],
    [
      '*',
      ['example.com', '1.1.1.1', '[2606:4700::1111]'],
      ['web', 'web.shop.svc', 'web.shop.svc.cluster.local'],
    ],
    ['*', [], ['localhost', 'a.localhost', 'metadata.google.internal', 'printer.local', 'svc', 'web.svc.']],
    ['*.svc', ['web.shop.svc'], ['web.shop.svc.cluster.local']],
    ['web', ['web'], ['web.shop']],
  ])('of %s', (pattern, allowed, forbidden) => {
    const rules = new HostRules([pattern]);
    expect(allowed.filter((host) => !rules.allows(host))).toEqual([]);
    expect(forbidden.filter((host) => rules.allows(host))).toEqual([]);
  });

  it('are named in lower case and without a port', () => {
    for (const pattern of ['example.com', '*.a', '*', '[::1]', '127.0.0.1'])
      expect(isHostPattern(pattern)).toBe(true);
    for (const pattern of ['Example.com', 'a:80', '*a', 'a.*', '', 'http://a', '.a', 'a.', '**']) {
      expect(isHostPattern(pattern), pattern).toBe(false);
    }
  });
});
