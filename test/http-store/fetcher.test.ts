import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../plugins/http-store/src/network/connector.ts';
import { FetchFailure } from '../../plugins/http-store/src/network/failure.ts';
import { Fetcher, type Fetched, type Validators } from '../../plugins/http-store/src/network/fetcher.ts';
import { httpServer, plain, redirect, tagged, type Answer } from './http-server.ts';

const MAX = 1_000;

interface Setup {
  readonly allowHosts?: readonly string[];
  readonly allowAddresses?: readonly string[];
  readonly lookup?: Lookup;
  readonly timeoutMs?: number;
}

function fetching(
  setup: Setup = {},
): (url: string, known?: Validators, signal?: AbortSignal) => Promise<Fetched> {
  const { allowHosts = ['127.0.0.1'], allowAddresses = ['127.0.0.1'], lookup, timeoutMs = 30_000 } = setup;
  const fetcher = new Fetcher({ allowHosts, allowAddresses, userAgent: 'test', lookup });
  return (url, known, signal = new AbortController().signal) =>
    fetcher.fetch(new URL(url), { timeoutMs, maxSize: MAX }, known, signal);
}

async function failureOf(attempt: Promise<Fetched>): Promise<FetchFailure> {
  const error: unknown = await attempt.then(
    (fetched) => fetched,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(FetchFailure);
  return error as FetchFailure;
}

async function textOf(attempt: Promise<Fetched>): Promise<string> {
  const fetched = await attempt;
  return fetched.kind === 'content' ? fetched.text : fetched.kind;
}

/** Resolves every name to these addresses. */
function at(...addresses: readonly string[]): Lookup {
  return (_host, _options, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
}

describe('a fetch', () => {
  it('brings the text, and nothing again while it is the same', async () => {
    const server = await httpServer(tagged('one\nzwölf'));
    const fetch = fetching();
    const first = await fetch(`${server.origin}/list`);
    expect(first).toMatchObject({ kind: 'content', text: 'one\nzwölf' });
    const { validators } = first as Extract<Fetched, { kind: 'content' }>;
    expect(await fetch(`${server.origin}/list`, validators)).toEqual({ kind: 'unchanged' });
    server.answer = tagged('two');
    expect(await textOf(fetch(`${server.origin}/list`, validators))).toBe('two');
    expect(server.requests.map(({ headers }) => headers['accept-encoding'])).toEqual(
      Array(3).fill('identity'),
    );
  });

  it('asks with the date where there is no tag', async () => {
    const date = 'Mon, 01 Jan 2029 00:00:00 GMT';
    const server = await httpServer((request, response) => {
      if (request.headers['if-modified-since'] === date) response.writeHead(304).end();
      else plain('x', { 'last-modified': date })(request, response);
    });
    const fetch = fetching();
    const first = (await fetch(server.origin)) as Extract<Fetched, { kind: 'content' }>;
    expect(await fetch(server.origin, first.validators)).toEqual({ kind: 'unchanged' });
  });

  it('sends what it knows only to whom it has it from', async () => {
    const server = await httpServer(tagged('x'));
    await fetching()(`${server.origin}/a`, { url: `${server.origin}/b`, etag: '"secret"' });
    expect(server.requests[0]!.headers['if-none-match']).toBeUndefined();
  });

  it('brings the text anew where a tag is longer than what servers take', async () => {
    const server = await httpServer((request, response) => {
      const isAsked = request.headers['if-none-match'] !== undefined;
      plain('x', { etag: `"${'x'.repeat(10_000)}"` }, isAsked ? 431 : 200)(request, response);
    });
    const fetch = fetching();
    const first = (await fetch(server.origin)) as Extract<Fetched, { kind: 'content' }>;
    expect(await textOf(fetch(server.origin, first.validators))).toBe('x');
  });

  it('does not take 304 for an answer to a question that it did not ask', async () => {
    const server = await httpServer(plain('', {}, 304));
    expect((await failureOf(fetching()(server.origin))).message).toBe('the server answered 304');
  });

  it('takes a body in chunks', async () => {
    const server = await httpServer((_request, response) => {
      response.write('a');
      response.end('b');
    });
    expect(await textOf(fetching()(server.origin))).toBe('ab');
  });

  it('brings an empty text', async () => {
    const server = await httpServer(plain(''));
    expect(await textOf(fetching()(server.origin))).toBe('');
  });

  it.each<[string, Answer, string | RegExp]>([
    ['a size that is announced', plain('x'.repeat(MAX + 1)), `larger than ${MAX} bytes`],
    [
      'a body without end',
      (_request, response) => {
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(100)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      `larger than ${MAX} bytes`,
    ],
    [
      'a body that is cut',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('x', () => response.socket!.destroy());
      },
      /other side closed|terminated|ECONNRESET/,
    ],
    [
      'chunks that are cut',
      (_request, response) => {
        response.write('x', () => response.socket!.destroy());
      },
      /other side closed|terminated|ECONNRESET/,
    ],
    [
      'a body that only the connection ends',
      (_request, response) => {
        response.socket!.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhalf');
      },
      'says nothing about its length',
    ],
    ['bytes that are no UTF-8', plain(Buffer.from([0x61, 0xff])), 'no UTF-8'],
    ['half a character', plain(Buffer.from('ü').subarray(0, 1)), 'no UTF-8'],
    ['a compressed body', plain('x', { 'content-encoding': 'gzip' }), 'encoded (gzip)'],
    [
      'headers without end',
      (_request, response) => {
        const { socket } = response;
        socket!.write('HTTP/1.1 200 OK\r\n');
        const more = (): void => {
          while (!socket!.destroyed && socket!.write(`x-more: ${'x'.repeat(1_000)}\r\n`));
          if (!socket!.destroyed) socket!.once('drain', more);
        };
        more();
      },
      /Headers Overflow/,
    ],
    ['an error', plain('x', {}, 500), 'the server answered 500'],
    ['a part', plain('x', {}, 206), 'the server answered 206'],
    ['garbage', (_request, response) => void response.socket!.end('no HTTP at all\r\n\r\n'), /./],
    ['no answer', (_request, response) => void response.socket!.destroy(), /other side closed|ECONNRESET/],
  ])('refuses %s', async (_name, answer, message) => {
    const server = await httpServer(answer);
    const failure = await failureOf(fetching()(server.origin));
    expect(failure.message).toMatch(message);
    expect(failure.forbidden).toBe(false);
  });

  it('notes for how long the server wants to be left alone', async () => {
    const server = await httpServer(plain('', { 'retry-after': '120' }, 503));
    expect((await failureOf(fetching()(server.origin))).retryAfterMs).toBe(120_000);
  });

  it('takes a moment for a number of seconds', async () => {
    const moment = new Date(Date.now() + 60_000).toUTCString();
    const server = await httpServer(plain('', { 'retry-after': moment }, 503));
    const { retryAfterMs } = await failureOf(fetching()(server.origin));
    expect(retryAfterMs).toBeGreaterThan(50_000);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
  });

  it.each<[string, Answer]>([
    ['says nothing', () => {}],
    [
      'goes silent',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        response.write('x');
      },
    ],
    [
      'sends a byte now and then',
      (_request, response) => {
        response.writeHead(200, { 'content-length': 100 });
        const timer = setInterval(() => response.write('x'), 10);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('ends in time when the server %s', async (_name, answer) => {
    const server = await httpServer(answer);
    const failure = await failureOf(fetching({ timeoutMs: 200 })(server.origin));
    expect(failure.message).toBe('no complete answer within 0.2 s');
  });

  it('ends with its signal, in the words of that', async () => {
    const stop = new AbortController();
    const server = await httpServer(() => stop.abort(new Error('stopped')));
    await expect(fetching()(server.origin, undefined, stop.signal)).rejects.toThrow('stopped');
  });

  it('fails where nobody listens', async () => {
    const server = await httpServer(plain(''));
    await server.close();
    expect((await failureOf(fetching()(server.origin))).message).toContain('ECONNREFUSED');
  });
});

describe('a redirect', () => {
  it('is followed to what is allowed', async () => {
    const end = await httpServer(plain('there'));
    const server = await httpServer((request, response) => {
      redirect(request.url === '/' ? '/next' : `${end.origin}/x`)(request, response);
    });
    expect(await textOf(fetching()(server.origin))).toBe('there');
  });

  it.each([
    ['http://169.254.169.254/latest/meta-data', /the address 169\.254\.169\.254 is not in/],
    ['http://[::ffff:169.254.169.254]/', /the address ::ffff:a9fe:a9fe is not in/],
    ['http://10.0.0.1/', /the address 10\.0\.0\.1/],
    ['http://localhost/', /the host localhost is not in/],
    ['http://web.shop.svc.cluster.local/', /the host web\.shop\.svc\.cluster\.local is not in/],
    ['file:///etc/passwd', /not file:/],
    ['http://user:secret@127.0.0.1/', /without user and password/],
  ])('to %s is not followed', async (to, message) => {
    const server = await httpServer(redirect(to));
    const failure = await failureOf(
      fetching({ allowHosts: ['*'], allowAddresses: ['127.0.0.1'] })(server.origin),
    );
    expect(failure.message).toMatch(message);
    expect(failure.message).not.toContain('secret');
    expect(failure.forbidden).toBe(true);
  });

  it('comes to an end', async () => {
    const server = await httpServer(redirect('/'));
    expect((await failureOf(fetching()(server.origin))).message).toBe('more than 5 redirects');
    expect(server.requests).toHaveLength(6);
  });

  it('is followed without a look at its body, however long that is', async () => {
    const end = await httpServer(plain('there'));
    const server = await httpServer((_request, response) => {
      response.writeHead(302, { location: end.origin });
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(100)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    expect(await textOf(fetching()(server.origin))).toBe('there');
  });

  it('needs a place to go to', async () => {
    const server = await httpServer(plain('', {}, 302));
    expect((await failureOf(fetching()(server.origin))).message).toContain('without a usable location');
  });
});

describe('where it may connect to', () => {
  it('is nowhere unless a host is named', async () => {
    const server = await httpServer(plain('x'));
    const failure = await failureOf(fetching({ allowHosts: [] })(server.origin));
    expect(failure).toMatchObject({ forbidden: true, message: expect.stringContaining('allowHosts') });
    expect(server.requests).toEqual([]);
  });

  it('is no private address, though the host is named', async () => {
    const server = await httpServer(plain('x'));
    const failure = await failureOf(fetching({ allowAddresses: [] })(server.origin));
    expect(failure).toMatchObject({ forbidden: true, message: expect.stringContaining('allowAddresses') });
    expect(server.requests).toEqual([]);
  });

  it.each([[['127.0.0.1']], [['10.0.0.1', '::1']], [['::ffff:127.0.0.1']]])(
    'is not %s, which a public name resolves to',
    async (addresses) => {
      const server = await httpServer(plain('x'));
      const setup = { allowHosts: ['*'], allowAddresses: [], lookup: at(...addresses) };
      const failure = await failureOf(fetching(setup)(`http://list.example.com:${server.port}/`));
      expect(failure.forbidden).toBe(true);
      expect(failure.message).toContain(`list.example.com is at ${addresses.join(', ')}`);
      expect(server.requests).toEqual([]);
    },
  );

  it('is decided by the look-up of the connection itself, every time', async () => {
    const server = await httpServer(plain('x'));
    const answers = [['127.0.0.1'], ['127.0.0.2']];
    let asked = 0;
    const lookup: Lookup = (host, options, done) => at(...answers[asked++]!)(host, options, done);
    const fetch = fetching({ allowHosts: ['*'], lookup });
    expect(await textOf(fetch(`http://list.example.com:${server.port}/`))).toBe('x');
    expect((await failureOf(fetch(`http://list.example.com:${server.port}/`))).forbidden).toBe(true);
    expect(asked).toBe(2);
  });

  it('is the allowed one of several addresses', async () => {
    const server = await httpServer(plain('x'));
    const lookup = at('10.0.0.1', '127.0.0.1');
    expect(
      await textOf(fetching({ allowHosts: ['*'], lookup })(`http://a.example.com:${server.port}/`)),
    ).toBe('x');
  });

  it('fails with the words of the resolver', async () => {
    const lookup: Lookup = (_host, _options, done) =>
      done(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []);
    const failure = await failureOf(fetching({ allowHosts: ['*'], lookup })('http://a.example.com/'));
    expect(failure.message).toContain('no such name');
    expect(failure.forbidden).toBe(false);
  });
});
