import type { KubeObject, ObjectCheck, ObjectChecks, ObjectProblem } from '@haptic/core/contract';

/** The checks that plugins have added, by kind. */
export class CheckRegistry implements ObjectChecks {
  readonly #checks: ObjectCheck[] = [];

  add(check: ObjectCheck): void {
    this.#checks.push(check);
  }

  problems(object: KubeObject): readonly ObjectProblem[] {
    return this.#checks
      .filter(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind)
      .flatMap((check) => check.problems(object));
  }
}
