import { assert, ipV4, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AddressRules, parseCidr } from './addresses.ts';

const rules = new AddressRules([]);

describe('addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '172.15.255.255',
    '172.32.0.0',
    '100.63.255.255',
    '2606:4700::1111',
    '2a00::1',
  ])('may be %s, which is public', (address) => {
    expect(rules.allows(address)).toBe(true);
    expect(rules.allows(address.includes(':') ? address : `::ffff:${address}`)).toBe(true);
  });

  it.each([
    '0.0.0.0',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ])('may not be %s, however it is written', (address) => {
    const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
    const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
    for (const text of [address, `::ffff:${address}`, `::ffff:${hex}`, `0:0:0:0:0:ffff:${hex}`, `::${hex}`]) {
      expect(rules.allows(text), text).toBe(false);
    }
  });

  it.each([
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'ff02::1',
    '64:ff9b::a00:1',
    '2002:a00:1::1',
    '2001::1',
    '2001:db8::1',
    'fd00:ec2::254',
  ])('may not be %s', (address) => expect(rules.allows(address)).toBe(false));

  it('may be what the operator allows, and no more', () => {
    const some = new AddressRules(['10.1.0.0/16', 'fd00::/8', '127.0.0.1']);
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', 'fd00::1', '127.0.0.1', '1.1.1.1']) {
      expect(some.allows(address), address).toBe(true);
    }
    for (const address of ['10.2.0.1', '127.0.0.2', 'fe80::1', '::ffff:10.2.0.1']) {
      expect(some.allows(address), address).toBe(false);
    }
  });

  it('are judged the same when they are mapped to IPv6', () => {
    assert(
      property(ipV4(), (address) => {
        expect(rules.allows(`::ffff:${address}`)).toBe(rules.allows(address));
      }),
    );
  });

  it('are nothing else', () => {
    for (const text of ['', 'localhost', '1.2.3', '0x7f.1', '127.0.0.1/8'])
      expect(rules.allows(text)).toBe(false);
    for (const text of [
      '10.0.0.0/33',
      '10.0.0/8',
      '::1/129',
      'fe80::1%eth0/64',
      'a',
      '1.1.1.1/',
      '1.1.1.1/8/8',
    ])
      expect(parseCidr(text), text).toBeUndefined();
  });
});
