import { request } from 'node:http';
import { Retry } from '@haptic/core/contract';
import { LIMITS, stateSchema, type AgentState } from './protocol/index.ts';
import type { ListenAddress } from './api/listen.ts';

/** Asks an agent of this machine for its state: for people at a terminal and for probes. @throws Retry when it cannot be had. */
export async function askState(
  address: ListenAddress,
  token: string,
  query: { readonly verify?: boolean; readonly plan?: boolean } = {},
): Promise<AgentState> {
  const flags = `verify=${Number(query.verify ?? false)}&plan=${Number(query.plan ?? false)}`;
  const { status, body } = await get(address, `/v1/state?${flags}`, token);
  if (status !== 200) throw new Retry(`the agent answers ${status}: ${body}`);
  const state = stateSchema.safeParse(JSON.parse(body));
  if (!state.success) throw new Retry(`the agent's answer is not a state: ${state.error.message}`);
  return state.data;
}

function get(address: ListenAddress, path: string, token: string): Promise<{ status: number; body: string }> {
  const headers = { authorization: `Bearer ${token}` };
  return new Promise((resolve, reject) => {
    const call = request({ ...address, path, headers, timeout: 30_000, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size > LIMITS.body) call.destroy(new Retry('the answer is too long'));
        else chunks.push(chunk);
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      );
    });
    call.on('timeout', () => call.destroy(new Retry('no answer within 30 s')));
    call.on('error', reject);
    call.end();
  });
}
