export { askState, type AskSecrets } from './client.ts';
export type { ListenAddress } from './api/listen.ts';
export { AGENT_NAME, CONTROLLER_NAME, type ServerTls } from './api/tls-options.ts';
export { readToken, type TokenSource } from './api/token.ts';
export { AGENT, type AgentHooks, type AgentService } from './hooks.ts';
export { runAgent, type RunAgentOptions } from './run-agent.ts';
export { startAgent, type AgentOptions, type RunningAgent } from './start-agent.ts';
export { parentGone } from './supervisor/parent-gone.ts';
export { runHaproxy, type HaproxyOptions } from './supervisor/run-haproxy.ts';
