import { describe, expect, it } from 'vitest';
import type { RouteRequest } from '../contract/config.ts';
import { answerFailure, chooseBind } from './route-answer.ts';

const request: RouteRequest = { path: '/', method: 'GET', headers: {} };

describe('a request goes', () => {
  it.each([
    [[':8080'], {}, 0],
    [[':8080'], { tls: true }, 0],
    [[':443', ':80', ':8404'], {}, 1],
    [[':443', ':80', ':8404'], { tls: true }, 0],
    [[':443', ':80', ':8404'], { bind: ':8404' }, 2],
    [['*:80', '[::]:80'], {}, 0],
    [['10.0.0.1:80', '[::]:80', ':80'], {}, 2],
    [['quic4@:443', ':443'], { tls: true }, 1],
    [['127.0.0.1:80', ':8404'], {}, 0],
  ] as const)('of %j, %j to %d', (addresses, asked, index) => {
    expect(chooseBind(addresses, { ...request, ...asked })).toBe(index);
  });

  it.each([
    [[':1', ':2'], {}, 'HAProxy listens on :1, :2, and none of them ends with ":80": say which with "bind"'],
    [
      ['10.0.0.1:80', '10.0.0.2:80'],
      {},
      'HAProxy listens on 10.0.0.1:80, 10.0.0.2:80, and 2 of them end with ":80": say which with "bind"',
    ],
    [
      ['127.0.0.1:80', ':443'],
      { bind: '127.0.0.1:81' },
      'HAProxy does not listen on "127.0.0.1:81" but on 127.0.0.1:80, :443, did you mean "127.0.0.1:80"?',
    ],
  ] as const)('nowhere: of %j, %j', (addresses, asked, problem) => {
    expect(chooseBind(addresses, { ...request, ...asked })).toEqual({ problem });
  });
});

describe('an answer', () => {
  const answer = { status: 302, location: '/x', backends: ['front', 'web'] };

  it('is what all of its expectation says', () => {
    const expectation = { backend: 'web', status: 302, redirect: '/x' };
    expect(answerFailure(request, expectation, answer, ['web'])).toBeUndefined();
  });

  it('is another one, in words', () => {
    const asked: RouteRequest = { ...request, host: 'a.test', tls: true };
    expect(answerFailure(asked, { backend: 'wbe', status: 200, redirect: '/y' }, answer, ['web'])).toBe(
      'GET https://a.test/: backend front and web answered 302, Location: /x; expected backend wbe, which does not exist, did you mean "web"? and status 200 and Location: /y',
    );
  });
});
