import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { askState } from './client.ts';
import { LIMITS } from './protocol/index.ts';

const secrets = { token: 'a token that is long enough' };

/** Says this to whoever connects, and ends the connection. */
async function place(answer: string): Promise<{ readonly host: string; readonly port: number }> {
  const server: Server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port };
}

const whole = (body: string, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;

test.each([
  ['something else', whole('hello'), 'the answer is not that of an agent: hello'],
  ['another state', whole('{"protocol":"x"}'), 'the answer is not that of an agent: {"protocol":"x"}'],
  ['an error', whole('{"error":"no"}', '503 Unavailable'), 'the agent answers 503: {"error":"no"}'],
  ['half an answer', whole('{"protocol":').slice(0, -1), 'the connection ended in the middle of the answer'],
])('says what came instead of a state: %s', async (_name, answer, words) => {
  await expect(askState(await place(answer), secrets)).rejects.toThrow(words);
});

test('an answer that is too long is given up', async () => {
  const length = LIMITS.body + 1;
  await expect(askState(await place(whole('x'.repeat(length))), secrets)).rejects.toThrow(
    'the answer is too long',
  );
});

test('that nobody is there is said with the place', async () => {
  const socketPath = '/nonexistent/agent.sock';
  await expect(askState({ socketPath }, secrets)).rejects.toThrow(`no agent listens on ${socketPath}`);
});
