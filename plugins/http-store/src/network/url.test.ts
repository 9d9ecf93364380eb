import { describe, expect, it } from 'vitest';
import { parseUrl, redacted } from './url.ts';

describe('a URL', () => {
  it('is known by one spelling', () => {
    expect(parseUrl('HTTPS://Example.COM:443/a/../b?c#d').href).toBe('https://example.com/b?c');
    expect(parseUrl('http://2130706433/').hostname).toBe('127.0.0.1');
    expect(parseUrl('http://0x7f.1/').hostname).toBe('127.0.0.1');
  });

  it.each([
    ['list.txt', 'expected an absolute URL'],
    ['', 'expected an absolute URL'],
    ['file:///etc/passwd', 'expected an http: or https: URL, not file:'],
    ['ftp://a/', 'not ftp:'],
    ['https://u:secret@a/', 'without user and password'],
    ['https://u@a/', 'without user and password'],
    [`https://a/${'x'.repeat(3_000)}`, 'at most 2048 characters'],
  ])('is not %s', (text, message) => {
    expect(() => parseUrl(text)).toThrow(message);
    expect(() => parseUrl(text)).not.toThrow('secret');
  });

  it('is shown without its query', () => {
    expect(redacted('https://a/b?token=secret')).toBe('https://a/b?…');
    expect(redacted('https://a/b')).toBe('https://a/b');
  });
});
