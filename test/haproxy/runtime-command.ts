import { connect } from 'node:net';

/**
 * Sends one line to a runtime or master socket and returns the reply as it came. For tests only: it knows nothing of what
 * replies mean.
 */
export function runtimeCommand(socketPath: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath);
    const chunks: Buffer[] = [];
    socket.setTimeout(15_000, () => socket.destroy(new Error(`no answer to '${line}' from ${socketPath}`)));
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      // The master keeps the connection open; every reply ends with an empty line on both kinds of socket.
      if (Buffer.concat(chunks).toString().endsWith('\n\n')) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
    socket.write(`${line}\n`);
  });
}
