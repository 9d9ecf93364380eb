#!/usr/bin/env -S node --conditions=source
// Development's door: runs the sources as they are. The image starts dist/main.js.
const [major] = process.versions.node.split('.').map(Number);
if (major < 24) {
  process.stderr.write(
    `haptic needs Node.js 24 or newer, this is ${process.versions.node}. Run it as \`npx haptic …\`, which uses the project's own.\n`,
  );
  process.exit(2);
}
const { main } = await import('../src/main.ts');
await main(process.argv.slice(2));
