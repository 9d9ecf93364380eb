import { expect, it } from 'vitest';
import { controllerRig, ingress } from '../testing/controller-rig.ts';

const pod = (name: string, haproxyVersion: string) => ({ name, haproxyVersion, ops: [] });

it('a fleet of one branch needs no remark', async () => {
  await using rig = await controllerRig(({ fleet }) => {
    fleet.pods = [pod('a', '3.4.7'), pod('b', '3.4.9')];
  });
  expect(rig.log.records.filter(({ message }) => message === 'a judge warns')).toEqual([]);
});

it('of several branches only one judges, which rides on every verdict and is logged once', async () => {
  await using rig = await controllerRig(({ fleet }) => {
    fleet.pods = [pod('a', '3.2.1'), pod('b', '3.4.7')];
  });
  rig.source.put('ingresses', ingress('one'));
  await rig.settle();
  const warnings = rig.log.records.filter(({ message }) => message === 'a judge warns');
  expect(warnings.map(({ fields }) => fields)).toMatchObject([
    {
      finding:
        "fleet: the fleet runs HAProxy 3.2, and 3.4 has judged: each pod's own HAProxy decides when it loads the files",
    },
  ]);
  const { verdict } = await rig.controller.renderOnce(new AbortController().signal);
  expect(verdict).toMatchObject({ kind: 'passed', findings: [{ judge: 'fleet', severity: 'warning' }] });
});
