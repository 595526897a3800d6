import type { ContractReference } from '../../../api/index.ts';
import { deepEqual } from '../../../machinery/index.ts';
import { ensureTemplate, isDeleting } from '../../shared/index.ts';
import type { MachineSetScope } from './scope.ts';

/**
 * Checks that the templates exist and sets their owner. Templates of a deployment's current revision are owned by the
 * deployment.
 */
export async function checkTemplates(scope: MachineSetScope): Promise<undefined> {
  const { set, cluster, deployment, context, follower } = scope;
  if (!cluster || isDeleting(set)) return;
  const { bootstrap, infrastructureRef } = set.spec.template.spec;
  const missing: string[] = [];
  const look = async (reference: ContractReference, sameInDeployment: boolean): Promise<void> => {
    const { client, signal } = context;
    const namespace = set.metadata.namespace ?? '';
    const exists =
      deployment && !sameInDeployment
        ? // an old revision's template may be deleted on purpose; it is not used any more
          (await follower.get(reference, namespace, { client, signal })) !== undefined
        : await ensureTemplate(context, follower, cluster, reference);
    if (!exists) missing.push(reference.kind);
  };
  const current = deployment?.spec.template.spec;
  if (bootstrap.configRef)
    await look(bootstrap.configRef, deepEqual(bootstrap.configRef, current?.bootstrap.configRef));
  await look(infrastructureRef, deepEqual(infrastructureRef, current?.infrastructureRef));
  scope.missingTemplates = missing;
}
