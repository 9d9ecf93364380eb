#!/usr/bin/env -S node --conditions=source
// Development's door: runs the sources as they are. The image starts dist/main.js.
const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `haptic needs Node.js 24 or newer, this is ${process.versions.node}. Run it as \`npx haptic …\`, which uses the project's own.\n`,
  );
  process.exit(2);
}
if (process.env.HAPTIC_HAPROXY === undefined) {
  // What `npm start` has got serves the other commands too.
  const { anyPresentHaproxy } = await import('../../tools/haproxy/index.ts');
  const haproxy = await anyPresentHaproxy();
  if (haproxy !== undefined) process.env.HAPTIC_HAPROXY = haproxy;
}
const { main } = await import('../src/main.ts');
await main(process.argv.slice(2));
