import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { judge } from './policy.ts';
import { serve } from './protocol.ts';

const [socketPath] = process.argv.slice(2);
if (socketPath === undefined) {
  console.error('usage: node main.ts SOCKET');
  process.exit(2);
}

const requestMs = Number(process.env['REQUEST_MS'] ?? 10_000);
const connections = new Set<Socket>();
const server = createServer((socket) => {
  connections.add(socket);
  socket.once('close', () => connections.delete(socket));
  serve(socket, judge, { requestMs });
});

await rm(socketPath, { force: true }); // left by a run that was killed
server.listen(socketPath);
await once(server, 'listening');
await chmod(socketPath, 0o660); // for the group that the pod's containers share
console.log(`judging at ${socketPath}`);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    server.close();
    for (const socket of connections) socket.destroy();
  });
}
