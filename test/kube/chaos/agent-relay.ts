import { once } from 'node:events';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { applyAnswerSchema } from '@haptic/agent/protocol';
import { z } from 'zod';
import { onCleanup } from '../../haproxy/cleanup.ts';

const Apply = z.looseObject({
  token: z.looseObject({ epoch: z.number(), seq: z.number() }),
  planId: z.string(),
  mode: z.string(),
});

/** An apply that an agent took. */
export interface Taken {
  readonly controller: string;
  readonly pod: string;
  readonly epoch: number;
  readonly planId: string;
  readonly generation: number;
}

/** One controller's way to one agent, which notes what the agent takes of it. */
export class AgentRelay {
  /** Applies that wait for their answer. */
  pending = 0;
  readonly socketPath: string;
  readonly #agent: string;
  readonly #who: Pick<Taken, 'controller' | 'pod'>;
  readonly #note: (taken: Taken) => void;

  private constructor(
    paths: { readonly socketPath: string; readonly agent: string },
    who: Pick<Taken, 'controller' | 'pod'>,
    note: (taken: Taken) => void,
  ) {
    this.socketPath = paths.socketPath;
    this.#agent = paths.agent;
    this.#who = who;
    this.#note = note;
  }

  /** Ends with the test. */
  static async open(
    paths: { readonly socketPath: string; readonly agent: string },
    who: Pick<Taken, 'controller' | 'pod'>,
    note: (taken: Taken) => void,
  ): Promise<AgentRelay> {
    const relay = new AgentRelay(paths, who, note);
    const server = createServer((incoming, outgoing) => {
      relay.#relay(incoming, outgoing).catch(() => outgoing.destroy());
    });
    server.listen(relay.socketPath);
    await once(server, 'listening');
    onCleanup(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    });
    return relay;
  }

  async #relay(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const body = await bytesOf(incoming);
    const isApply = incoming.method === 'POST';
    if (isApply) this.pending += 1;
    try {
      const answer = await this.#ask(incoming, body, outgoing);
      if (answer === undefined) return;
      if (isApply && answer.status === 200) this.#took(body, answer.body);
      outgoing.writeHead(answer.status, answer.headers).end(answer.body);
    } finally {
      if (isApply) this.pending -= 1;
    }
  }

  /** Undefined where the asker went away. */
  async #ask(
    { method, url, headers }: IncomingMessage,
    body: Buffer,
    outgoing: ServerResponse,
  ): Promise<{ status: number; headers: IncomingMessage['headers']; body: Buffer } | undefined> {
    const asked = request({ socketPath: this.#agent, method, path: url, headers });
    outgoing.on('close', () => void (outgoing.writableFinished || asked.destroy()));
    asked.end(body);
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, headers: response.headers, body: await bytesOf(response) };
    } catch (error) {
      if (outgoing.destroyed) return undefined;
      throw error;
    }
  }

  #took(asked: Buffer, answered: Buffer): void {
    const { token, planId } = Apply.parse(JSON.parse(asked.toString()));
    const answer = applyAnswerSchema.parse(JSON.parse(answered.toString()));
    if (answer.outcome === 'rejected') return;
    this.#note({ ...this.#who, epoch: token.epoch, planId, generation: answer.generation });
  }
}

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
