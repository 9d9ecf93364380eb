import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { TestNetwork } from '../cluster/network.ts';

/** Opens a network, runs a program in it, says what it has, and waits to be killed. */
const network = await TestNetwork.open(1);
const [program, args] = network.inside('sleep', ['300']);
const child = spawn(program, args, { stdio: 'ignore' });
await once(child, 'spawn');
console.log(JSON.stringify({ pid: child.pid, address: network.addresses[0] }));
setInterval(() => undefined, 60_000);
