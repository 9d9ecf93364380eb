import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request, type IncomingMessage } from 'node:http';
import { stateSchema, type AgentState } from '@haptic/agent/protocol';
import type { HaproxyPod } from './world.ts';

/** What an agent says of its pod; with `verify` it reads its files anew and names those that are not what was applied. */
export async function agentState(
  { socketPath, tokenFile }: Pick<HaproxyPod, 'socketPath' | 'tokenFile'>,
  { verify = false }: { readonly verify?: boolean } = {},
): Promise<AgentState> {
  const authorization = `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`;
  const path = `/v1/state?plan=0&files=0&verify=${Number(verify)}`;
  const sent = request({ socketPath, path, headers: { authorization }, timeout: 30_000 });
  sent.on('timeout', () => sent.destroy(new Error('the agent does not answer'))).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return stateSchema.parse(JSON.parse(Buffer.concat(chunks).toString()));
}
