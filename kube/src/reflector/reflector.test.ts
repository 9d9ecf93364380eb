import type { KubeObject } from '@haptic/core/contract';
import { systemClock } from '@haptic/core/host';
import { memoryLog } from '@haptic/core/testing';
import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { reset, ScriptedApi, sends, status } from '../testing/scripted-api.ts';
import { Reflector, type ReflectorEvent, type ReflectorOptions } from './reflector.ts';

const resource = { apiVersion: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };

function configMap(name: string, version: number, data: object = {}): object {
  const metadata = { name, namespace: 'a', uid: `uid-${name}`, resourceVersion: String(version) };
  return { metadata: { ...metadata, managedFields: [{ manager: 'm' }] }, data };
}

function list(version: number, items: readonly object[], next = ''): object {
  return { kind: 'ConfigMapList', metadata: { resourceVersion: String(version), continue: next }, items };
}

function event(type: string, object: object): string {
  return `${JSON.stringify({ type, object })}\n`;
}

/** Opens the stream of a watch, writes this and leaves it open. */
function watches(...texts: readonly string[]) {
  return (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    for (const text of texts) response.write(text);
  };
}

/** A handler that keeps what it is told, and a record of how it was told. */
class Kept {
  readonly objects = new Map<string, KubeObject>();
  readonly told: string[] = [];
  readonly events: ReflectorEvent[] = [];
  fail = false;

  replace(objects: readonly KubeObject[]): void {
    if (this.fail) throw new Error('the handler fails');
    this.objects.clear();
    for (const object of objects) this.objects.set(object.metadata.name, object);
    this.told.push(`replace ${objects.map(({ metadata }) => metadata.name).join(' ')}`);
  }

  apply({
    upserts,
    deletes,
  }: {
    upserts: readonly KubeObject[];
    deletes: readonly { name: string }[];
  }): void {
    if (this.fail) throw new Error('the handler fails');
    for (const object of upserts) this.objects.set(object.metadata.name, object);
    for (const { name } of deletes) this.objects.delete(name);
    const words = [
      ...upserts.map(({ metadata }) => `+${metadata.name}`),
      ...deletes.map(({ name }) => `-${name}`),
    ];
    this.told.push(words.join(' '));
  }

  notServed(): void {
    this.objects.clear();
    this.told.push('not served');
  }
}

interface Running {
  readonly server: ScriptedApi;
  readonly kept: Kept;
  readonly reflector: Reflector;
  readonly log: ReturnType<typeof memoryLog>;
}

async function start(
  script: (server: ScriptedApi) => void,
  options: Partial<ReflectorOptions> = {},
): Promise<Running> {
  const server = await ScriptedApi.start();
  script(server);
  const kept = new Kept();
  const log = memoryLog();
  const reflector = new Reflector({
    api: server.client(),
    resource,
    handler: kept,
    observe: (event) => kept.events.push(event),
    clock: systemClock,
    log,
    ...options,
    timing: { inactivity: 5_000, requestTimeout: 2_000, backoff: { first: 1, most: 5 }, ...options.timing },
  });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return { server, kept, reflector, log };
}

const soon = { timeout: 5_000, interval: 5 };

describe('the list', () => {
  test('is read page by page, and synced only when all of it is with the handler', async () => {
    const { server, kept, reflector } = await start((server) => {
      server.next(
        sends(200, list(10, [configMap('a', 1)], 'token')),
        sends(200, list(10, [configMap('b', 2)])),
      );
      server.next(watches());
    });
    await reflector.synced;
    expect(kept.told).toEqual(['replace a b']);
    await vi.waitFor(() => expect(server.calls).toHaveLength(3), soon);
    expect(server.calls[0]).toMatchObject({ path: '/api/v1/configmaps', query: { limit: '500' } });
    expect(server.calls[0]?.headers.authorization).toBe('Bearer secret-token');
    expect(server.calls[1]?.query).toMatchObject({ limit: '500', continue: 'token' });
    expect(server.calls[2]?.query).toMatchObject({
      watch: 'true',
      resourceVersion: '10',
      allowWatchBookmarks: 'true',
    });
    const seconds = Number(server.calls[2]?.query['timeoutSeconds']);
    expect(seconds).toBeGreaterThanOrEqual(300);
    expect(seconds).toBeLessThanOrEqual(600);
  });

  test('objects arrive frozen, with kind and apiVersion, without managedFields and ignored fields', async () => {
    const { kept, reflector } = await start(
      (server) => server.next(sends(200, list(1, [configMap('a', 1, { keep: 'x', drop: 'y' })])), watches()),
      { ignoreFields: ['data.drop'] },
    );
    await reflector.synced;
    const object = kept.objects.get('a');
    expect(object).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap', data: { keep: 'x' } });
    expect(object?.metadata).not.toHaveProperty('managedFields');
    expect(object?.['data']).not.toHaveProperty('drop');
    expect(
      Object.isFrozen(object) && Object.isFrozen(object?.metadata) && Object.isFrozen(object?.['data']),
    ).toBe(true);
  });

  test('starts again when the token of the next page has expired, at last without pages', async () => {
    const expired = sends(410, status(410, 'Expired'));
    const { server, kept, reflector } = await start((server) => {
      const first = sends(200, list(1, [configMap('a', 1)], 'token'));
      server.next(first, expired, first, expired, sends(200, list(3, [configMap('b', 3)])), watches());
    });
    await reflector.synced;
    expect(kept.told).toEqual(['replace b']);
    expect(server.calls[4]?.query).not.toHaveProperty('limit');
  });

  test('foreign objects are never handed on, and leave when they become foreign', async () => {
    const { kept, reflector } = await start(
      (server) => {
        server.next(sends(200, list(1, [configMap('a', 1), configMap('b', 1, { foreign: 'yes' })])));
        server.next(watches(event('MODIFIED', configMap('a', 2, { foreign: 'yes' }))));
      },
      { accept: (object) => !JSON.stringify(object).includes('foreign') },
    );
    await reflector.synced;
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a', '-a']), soon);
  });
});

describe('the watch', () => {
  test('an update of nothing, or of ignored fields alone, is no change', async () => {
    const { kept } = await start(
      (server) => {
        server.next(sends(200, list(1, [configMap('a', 1, { x: '1' })])));
        server.next(
          watches(
            event('MODIFIED', configMap('a', 2, { x: '1' })),
            event('MODIFIED', configMap('a', 3, { x: '1', noise: 'n' })),
            event('ADDED', configMap('b', 4)),
          ),
        );
      },
      { ignoreFields: ['data.noise'] },
    );
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a', '+b']), soon);
    expect(kept.objects.get('a')?.metadata.resourceVersion).toBe('1');
  });

  test('goes on where it was after a reset, also in the middle of a line', async () => {
    const { server, kept } = await start((server) => {
      server.next(sends(200, list(1, [])));
      server.next((response) => {
        watches(event('ADDED', configMap('a', 5)), event('ADDED', configMap('b', 6)).slice(0, 40))(response);
        setTimeout(() => response.socket?.resetAndDestroy(), 20);
      });
      server.next(reset(), watches(event('ADDED', configMap('b', 6))));
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace ', '+a', '+b']), soon);
    expect(server.calls.map(({ query }) => query['resourceVersion'])).toEqual([undefined, '1', '5', '5']);
  });

  test('a bookmark moves the position and is no change', async () => {
    const { server, kept } = await start((server) => {
      server.next(sends(200, list(1, [])));
      server.next((response) => {
        watches(event('BOOKMARK', { metadata: { resourceVersion: '77' } }))(response);
        response.end();
      });
      server.next(watches());
    });
    await vi.waitFor(() => expect(server.calls).toHaveLength(3), soon);
    expect(server.calls[2]?.query['resourceVersion']).toBe('77');
    expect(kept.told).toEqual(['replace ']);
  });

  test.each([
    ['as status', sends(410, status(410, 'Expired'))],
    ['in the stream', watches(event('ERROR', status(410, 'Expired') as object))],
  ])('after 410 %s only the difference of a new list is told', async (_, gone) => {
    const { kept } = await start((server) => {
      server.next(sends(200, list(1, [configMap('a', 1), configMap('b', 1), configMap('c', 1)])), gone);
      server.next(
        sends(200, list(9, [configMap('b', 1), configMap('c', 8, { new: 'x' }), configMap('d', 9)])),
        watches(),
      );
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a b c', '+c +d -a']), soon);
  });

  test('a version that the server has not reached (a restored backup) leads to a list', async () => {
    const { kept } = await start((server) => {
      server.next(sends(200, list(100, [configMap('a', 90)])), sends(504, status(504, 'Timeout')));
      server.next(sends(200, list(50, [])), watches());
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a', '-a']), soon);
  });

  test('a silent connection is left', async () => {
    const { server, kept } = await start(
      (server) => server.next(sends(200, list(1, [])), watches(), watches(event('ADDED', configMap('a', 2)))),
      { timing: { inactivity: 60 } },
    );
    await vi.waitFor(() => expect(kept.told).toEqual(['replace ', '+a']), soon);
    expect(server.calls[2]?.query['resourceVersion']).toBe('1');
    expect(kept.events.find(({ type }) => type === 'restarted')).toMatchObject({
      error: expect.objectContaining({
        message: expect.stringContaining('silent for 60 ms') as string,
      }) as Error,
    });
  });

  test('a line that is no event leads to a list', async () => {
    const { kept } = await start((server) => {
      server.next(sends(200, list(1, [])), watches('<html>\n'));
      server.next(sends(200, list(2, [configMap('a', 2)])), watches());
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace ', '+a']), soon);
  });

  test('an event without a name leads to a list, and is logged as what it is', async () => {
    const { kept, log } = await start((server) => {
      server.next(sends(200, list(1, [])), watches(event('ADDED', { metadata: null })));
      server.next(sends(200, list(2, [configMap('a', 2)])), watches());
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace ', '+a']), soon);
    expect(log.records.some(({ level }) => level === 'error')).toBe(true);
  });

  test('the position moves also when versions are ignored', async () => {
    const { server } = await start(
      (server) => {
        server.next(sends(200, list(1, [])));
        server.next((response) => {
          watches(event('ADDED', configMap('a', 5)))(response);
          response.end();
        });
        server.next(watches());
      },
      { ignoreFields: ['metadata.resourceVersion'] },
    );
    await vi.waitFor(() => expect(server.calls[2]?.query['resourceVersion']).toBe('5'), soon);
  });

  test('a field that names the object cannot be ignored', async () => {
    await expect(start(() => undefined, { ignoreFields: ['metadata.name'] })).rejects.toThrow(
      'cannot be ignored',
    );
  });

  test('Retry-After is obeyed, and the position kept', async () => {
    let refusedAt = 0;
    let againAt = 0;
    const { server } = await start((server) => {
      server.next(sends(200, list(1, [])));
      server.next((response) => {
        refusedAt = performance.now();
        return sends(429, status(429, 'TooManyRequests'), { 'retry-after': '1' })(
          response,
          undefined as never,
        );
      });
      server.next((response) => {
        againAt = performance.now();
        watches()(response);
      });
    });
    await vi.waitFor(() => expect(server.calls).toHaveLength(3), soon);
    expect(againAt - refusedAt).toBeGreaterThanOrEqual(990);
    expect(server.calls[2]?.query['resourceVersion']).toBe('1');
  });

  test('a watch that the server ends at once is not asked for in a tight loop', async () => {
    const { server } = await start(
      (server) => {
        server.next(sends(200, list(1, [])));
        server.otherwise((response) => void response.writeHead(200).end());
      },
      { timing: { backoff: { first: 40, most: 10_000 } }, random: () => 0.99 },
    );
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThanOrEqual(4), soon);
    const count = server.calls.length;
    expect(count).toBeLessThan(8);
  });
});

describe('failures', () => {
  test('a list that fails is tried again until it works', async () => {
    const { kept, reflector } = await start((server) => {
      server.next(reset(), sends(500, status(500, 'InternalError')), sends(403, status(403, 'Forbidden')));
      server.next(sends(200, { not: 'a list' }), sends(200, list(1, [configMap('a', 1)])), watches());
    });
    await reflector.synced;
    expect(kept.told).toEqual(['replace a']);
  });

  test('a right that is missing is said for as long as it is, and logged when that begins and ends', async () => {
    const forbidden = { forbidden: true };
    const { server, log, reflector } = await start((server) => {
      server.otherwise((response, call) => {
        if (forbidden.forbidden) return sends(403, status(403, 'Forbidden'))(response, call);
        if (!('watch' in call.query)) return sends(200, list(1, []))(response, call);
        return watches(event('BOOKMARK', configMap('', 2)))(response);
      });
    });
    const shown = (): readonly string[] =>
      log.records
        .filter(({ level }) => level !== 'debug')
        .map(({ level, message }) => `${level}: ${message}`);
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThan(10), soon);
    expect(reflector.refusal?.message).toMatch(/^GET \/api\/v1\/configmaps.*: 403 Forbidden/);
    expect(shown()).toEqual(['warn: the watch fails repeatedly']);
    expect(log.records.find(({ level }) => level === 'warn')?.fields['error']).toBe(
      reflector.refusal?.message,
    );
    forbidden.forbidden = false;
    await vi.waitFor(() => expect(shown().at(-1)).toBe('info: the watch works again'), soon);
    expect(shown()).toHaveLength(2);
    expect(reflector.refusal).toBeUndefined();
  });

  test('a watch that may only be listed is refused all the same', async () => {
    const { server, reflector } = await start((server) => {
      server.otherwise((response, call) =>
        'watch' in call.query
          ? sends(403, status(403, 'Forbidden'))(response, call)
          : sends(200, list(1, []))(response, call),
      );
    });
    await reflector.synced;
    await vi.waitFor(() => expect(reflector.refusal?.message).toContain('403'), soon);
    // Other lists follow, and each of them works.
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThan(10), soon);
    expect(reflector.refusal?.message).toContain('403');
  });

  test('a watch that is cut off at once does not work again', async () => {
    const { server, log } = await start((server) => {
      let calls = 0;
      server.otherwise((response, call) => {
        if (calls++ < 4) return sends(503, status(503, 'Away'))(response, call);
        if (!('watch' in call.query)) return sends(200, list(1, []))(response, call);
        return void response.writeHead(200).end();
      });
    });
    await vi.waitFor(() => expect(server.calls.length).toBeGreaterThan(10), soon);
    expect(log.records.some(({ level }) => level === 'warn')).toBe(true);
    expect(log.records.filter(({ level }) => level === 'info')).toEqual([]);
  });

  test('a kind that goes is told once; when it comes back everything is told', async () => {
    const { kept } = await start((server) => {
      const missing = sends(404, status(404, 'NotFound'));
      server.next(sends(200, list(1, [configMap('a', 1)])), missing, missing, missing);
      server.next(sends(200, list(9, [configMap('b', 9)])), watches());
    });
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a', 'not served', 'replace b']), soon);
  });

  test('a kick ends the pause after a failure', async () => {
    const { server, reflector } = await start(
      (server) => server.next(sends(404, status(404, 'NotFound')), sends(200, list(1, [])), watches()),
      { timing: { backoff: { first: 60_000, most: 60_000 } }, random: () => 0.99 },
    );
    await vi.waitFor(() => expect(server.calls).toHaveLength(1), soon);
    const kicks = setInterval(() => reflector.kick(), 10);
    await reflector.synced.finally(() => clearInterval(kicks));
  });

  test('a handler that throws is told everything again and stops nothing', async () => {
    const running = await start((server) => {
      server.next(sends(200, list(1, [configMap('a', 1)])));
      server.next((response) => {
        running.kept.fail = true;
        watches(event('ADDED', configMap('b', 2)))(response);
      });
      server.next((response) => {
        running.kept.fail = false;
        return sends(200, list(2, [configMap('a', 1), configMap('b', 2)]))(response, undefined as never);
      });
      server.next(watches());
    });
    const { kept, log } = running;
    await vi.waitFor(() => expect(kept.told).toEqual(['replace a', 'replace a b']), soon);
    expect(log.records.filter(({ level }) => level === 'error')).toHaveLength(1);
  });
});
