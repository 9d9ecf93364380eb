/** Asks the validator at a socket everything that the protocol demands: node conformance.ts SOCKET */
import { test } from 'node:test';
import { validatorConformance } from '@haptic/core/testing';

const [socketPath] = process.argv.slice(2);
if (socketPath === undefined) throw new Error('usage: node conformance.ts SOCKET');

for (const { name, run } of validatorConformance(socketPath)) void test(name, run);
