import type { Controller } from '../e2e/world.ts';

/** The sum over all labels of what a controller counts under a name; 0 before it counts anything. */
export async function counted(controller: Controller, name: string): Promise<number> {
  const told = controller.log().find(({ msg }) => msg === 'answers Prometheus');
  const response = await fetch(`http://127.0.0.1:${String(told?.['port'])}/metrics`);
  const lines = (await response.text()).split('\n');
  return lines
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
