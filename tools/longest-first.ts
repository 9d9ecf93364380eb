import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Take a minute or more. Begun last, one of them would run alone at the end while the other workers have nothing to do. */
export const LONG = [
  'test/kube/chaos/chaos.test.ts',
  'test/kube/publish/faults.test.ts',
  'test/kube/scale/scale.test.ts',
  'test/kube/pods/pods.test.ts',
  'test/kube/lease/lease-chaos.test.ts',
  'test/kube/chaos/memory.test.ts',
  'test/kube/rbac/rules.test.ts',
  'test/kube/e2e/config-recreated.test.ts',
  'test/agent/operations.test.ts',
  'test/judge/taking-back.test.ts',
  'test/agent/outcomes.test.ts',
  'test/agent/fault-points.test.ts',
  'test/e2e/quarantine.test.ts',
];

/** Starts what takes long first, also where nobody has measured it yet: after a clone. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const place = ({ moduleId }: TestSpecification): number => {
      const index = LONG.indexOf(relative(this.ctx.config.root, moduleId));
      return index === -1 ? LONG.length : index;
    };
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}
