import { describe, expect, it } from 'vitest';
import type { Deployment, OutcomeCollector } from '../contract/index.ts';
import { controllerRig, ingress, type Rig } from '../testing/controller-rig.ts';

/** Holds back a pod, as a fleet does that goes in waves. */
function hold(fleet: Rig['fleet'], name: string): void {
  fleet.deploy = async (deployment: Deployment, outcomes: OutcomeCollector) => {
    const { plans, rendered } = deployment;
    fleet.pods = fleet.pods.map((pod) => (pod.name === name ? { ...pod, held: rendered.plan.id } : pod));
    for (const { pod } of plans) {
      if (pod === name) outcomes.add({ pod, result: 'held', reasons: ['wave_waits:a'], durationMs: 0 });
    }
    fleet.take(
      deployment,
      outcomes,
      plans.map(({ pod }) => pod).filter((pod) => pod !== name),
    );
  };
}

describe('a pod that waits for its turn', () => {
  it('is not sent the plan again until it has come', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = ['a', 'b'].map((name) => ({ name, ops: [] }));
      hold(fleet, 'b');
    });
    expect(rig.told).toContain('applied b=held,a=reload');
    await rig.clock.advance(120_000);
    expect(rig.fleet.deployments).toHaveLength(1);
    delete rig.fleet.deploy;
    rig.fleet.pods = rig.fleet.pods.map((pod) => (pod.name === 'b' ? { name: 'b', ops: [] } : pod));
    rig.fleet.changed();
    await rig.settle();
    expect(rig.told.at(-1)).toBe('applied a=noop,b=reload');
  });

  it('is not told of again and again once it has it, while others come to it', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = [{ name: 'a', ops: [] }];
    });
    for (const name of names.slice(1)) {
      rig.fleet.pods = [...rig.fleet.pods, { name, ops: [] }];
      rig.fleet.changed();
      await rig.settle();
    }
    const outcomes = rig.fleet.deployments.flatMap(({ plans }) =>
      plans.map(({ pod, mode }) => `${pod} ${mode}`),
    );
    expect(outcomes.toSorted()).toEqual([
      ...names.slice(0, -1).flatMap((name) => [`${name} noop`, `${name} reload`]),
      'e reload',
    ]);
  });

  it('is sent what is newer, planned for what it has', async () => {
    await using rig = await controllerRig(({ fleet }) => {
      fleet.pods = ['a', 'b'].map((name) => ({ name, ops: [] }));
    });
    hold(rig.fleet, 'b');
    rig.source.put('ingresses', ingress('one'));
    await rig.settle();
    rig.source.put('ingresses', ingress('two'));
    await rig.clock.advance(10_000);
    const [, first, second] = rig.fleet.deployments;
    expect(first!.plans.map(({ pod }) => pod)).toEqual(['a', 'b']);
    expect(second!.plans.find(({ pod }) => pod === 'b')!.from).toBe(
      rig.fleet.deployments[0]!.rendered.plan.id,
    );
  });
});
