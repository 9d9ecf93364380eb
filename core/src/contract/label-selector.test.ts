import { describe, expect, it } from 'vitest';
import { parseLabelSelector } from './label-selector.ts';

describe('parseLabelSelector', () => {
  const labels = { app: 'web', tier: 'a', size: '7', 'k8s.io/name': 'x', empty: '' };
  it.each([
    ['', true],
    ['app=web', true],
    ['app==web', true],
    ['app = db', false],
    ['app!=web', false],
    ['missing!=web', true],
    ['tier in (a, b)', true],
    ['tier in (b,c)', false],
    ['tier notin (b,c)', true],
    ['missing notin (b)', true],
    ['missing in (b)', false],
    ['app', true],
    ['missing', false],
    ['!missing', true],
    ['!app', false],
    ['empty=', true],
    ['size>6', true],
    ['size<7', false],
    ['app>1', false],
    ['k8s.io/name=x,app=web,tier in (a,b),!missing', true],
    ['app=web,app=db', false],
    ['constructor', false],
    ['!toString', true],
  ])('%s', (text, expected) => {
    expect(parseLabelSelector(text)(labels)).toBe(expected);
  });

  it('takes an object without labels for one with none', () => {
    expect(parseLabelSelector('app')(undefined)).toBe(false);
    expect(parseLabelSelector('!app')(undefined)).toBe(true);
  });

  it.each(['=web', 'a=b=c', 'app in a', 'app in (a', 'a b', 'app=web,', ',', 'a>x', 'app in ($)', '! '])(
    'refuses %j',
    (text) => {
      expect(() => parseLabelSelector(text)).toThrow(`label selector "${text}"`);
    },
  );
});
