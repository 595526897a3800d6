import { expect, it } from 'vitest';
import { KubeadmControlPlanes, ownDefinitions } from '../../api/index.ts';
import { ManualClock, must, type UnstructuredObject } from '../../machinery/index.ts';
import { installedRules } from './installed-rules.ts';

const { group, kind, version } = KubeadmControlPlanes;
const finalizer = 'kubeadm.controlplane.cluster.x-k8s.io';
const noClient = (): never => {
  throw new Error('these rules read nothing');
};

/** Returns the finalizers of a new control plane with these, as an instance stores it. */
async function finalizersOf(given: string[] | undefined, reconcilesAll: boolean): Promise<string[] | undefined> {
  const definition = must(
    ownDefinitions.find((known) => known.kind === kind && known.group === group),
    'the definition',
  );
  const object: UnstructuredObject = {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name: 'a', namespace: 'n', ...(given && { finalizers: given }) },
  };
  for (const rule of installedRules(noClient, new ManualClock(), { reconcilesAll })) {
    if (!rule.concerns(definition) || !rule.operations.includes('CREATE')) continue;
    await rule.mutate?.({
      operation: 'CREATE',
      definition,
      namespace: 'n',
      name: 'a',
      user: { name: 'somebody', uid: 'u', groups: [] },
      dryRun: false,
      object,
      oldObject: undefined,
      warn: () => {},
    });
  }
  return object.metadata.finalizers;
}

it('a new control plane has its finalizer from the beginning, beside those of others', async () => {
  expect(await finalizersOf(undefined, true)).toEqual([finalizer]);
  expect(await finalizersOf(['x/y'], true)).toEqual(['x/y', finalizer]);
  expect(await finalizersOf([finalizer], true)).toEqual([finalizer]);
});

it('it has none from an instance that may not reconcile it', async () => {
  expect(await finalizersOf(undefined, false)).toBeUndefined();
});
