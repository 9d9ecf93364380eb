/** The `haptic` program as far as a local pod needs it: `agent …` and `haproxy …`. */
const [name] = process.argv.splice(2, 1);
if (name === 'agent') await import('./agent.ts');
else await import('./haproxy.ts');
