import { MachineDeployments, MachineSets } from '../../../api/index.ts';
import { objectKey, withOptimisticLock } from '../../../client/index.ts';
import { ignoreNotFound, isConflict, type KubeObject, type Resource } from '../../../machinery/index.ts';
import {
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  watchObjects,
} from '../../../runtime/index.ts';
import { fieldManager, isDeleting, isFilteredOut, watchFilter, withoutFinalizer } from '../../shared/index.ts';
import type { TopologyDependencies } from '../common.ts';

// Finalizers that Cluster API sets on topology objects, to delete templates before their users. Here, templates are
// deleted once unreferenced, so the finalizers of objects that Cluster API created are just removed.

const finalizers: readonly (readonly [name: string, resource: Resource<KubeObject>, finalizer: string])[] = [
  ['topology-machinedeployment', MachineDeployments, 'machinedeployment.topology.cluster.x-k8s.io'],
  ['topology-machineset', MachineSets, 'machineset.topology.cluster.x-k8s.io'],
];

export function finalizerControllers({ watchFilter: filter }: TopologyDependencies): ControllerDefinition[] {
  return finalizers.map(([name, resource, finalizer]) =>
    defineController({
      name,
      for: resource,
      watches: [watchObjects(resource, { predicates: [...watchFilter(filter), changedBesidesStatus] })],
      async reconcile({ client, cache, signal }, key) {
        const object = cache.lister(resource).get(key);
        if (!object || !isDeleting(object) || isFilteredOut(object, filter)) return done();
        if (!object.metadata.finalizers?.includes(finalizer)) return done();
        const patch = { metadata: { finalizers: withoutFinalizer(object.metadata.finalizers, finalizer) } };
        await client
          .patch(resource, objectKey(object), 'merge', withOptimisticLock(patch, object), { fieldManager, signal })
          .catch((error: unknown) => {
            // conflict: the other write triggers a reconcile
            if (!isConflict(error)) ignoreNotFound(error);
          });
        return done();
      },
    }),
  );
}
