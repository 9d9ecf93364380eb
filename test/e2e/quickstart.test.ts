import { expect, test } from 'vitest';
import { freePort } from '../haproxy/free-port.ts';
import { request } from '../haproxy/raw-request.ts';
import { forEachVersion } from '../haproxy/versions.ts';
import { noTrace, place, processesOf, start, untilServing } from './haptic-process.ts';

forEachVersion(() => {
  test('npm start serves the examples, and Ctrl-C ends all of it', async () => {
    const { dir, env } = await place();
    const port = await freePort();
    const at = { dir, env: { ...env, HAPTIC_HTTP_PORT: String(port) } };
    const startedAt = performance.now();
    const run = start('npm', ['start'], at);
    await untilServing(run, () => run.stdout().includes('Ctrl-C stops everything.'));
    console.log(`npm start serves after ${Math.round(performance.now() - startedAt)} ms`);
    expect(run.stdout()).toMatch(
      new RegExp(`^serving http://localhost:${port} with HAProxy 3\\.[024]\\.`, 'm'),
    );
    expect(run.stdout()).toMatch(/^ {2}shop\.localhost\/cart\* +→ default\/cart:80 +Ingress default\/shop$/m);
    expect(run.stdout()).toContain(`try:  curl http://hello.localhost:${port}/`);

    const answer = async (host: string, path = '/'): Promise<string> => {
      const { status, body } = await request(port, { host, path });
      return `${status} ${body.toString().split('\n')[0]}`;
    };
    expect(await answer('hello.localhost')).toBe('200 hello answers GET /');
    expect(await answer(`hello.localhost:${port}`)).toBe('200 hello answers GET /');
    expect(await answer('shop.localhost', '/things?n=1')).toBe('200 shop answers GET /things?n=1');
    expect(await answer('shop.localhost', '/cart/1')).toBe('200 cart answers GET /cart/1');
    expect(await answer('shop.localhost', '/cartoon')).toBe('200 shop answers GET /cartoon');
    expect(await answer('unknown.localhost')).toBe('404 no route');
    // A first start has nothing to complain about.
    expect(run.stderr()).toBe('');

    expect((await processesOf(at)).length).toBeGreaterThan(4);
    // What a terminal does for Ctrl-C: everything in its foreground group hears it.
    process.kill(-run.pid, 'SIGINT');
    await run.ended;
    await noTrace(at, 2_000);
    expect(run.stderr()).toBe('');
  });
}, ['3.4']);
