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
    const { method, url, headers } = incoming;
    const asked = request({ socketPath: this.#agent, method, path: url, headers });
    const isApply = method === 'POST';
    // An apply whose sender went away may have arrived all the same: what became of it is noted.
    if (!isApply) outgoing.on('close', () => void (outgoing.writableFinished || asked.destroy()));
    asked.end(body);
    if (isApply) this.pending += 1;
    try {
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      const answer = await bytesOf(response);
      if (isApply && response.statusCode === 200) this.#took(body, answer);
      outgoing.writeHead(response.statusCode ?? 500, response.headers).end(answer);
    } finally {
      if (isApply) this.pending -= 1;
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
