import {
  type PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type Volume,
} from '../../../api/index.ts';
import type { Lister } from '../../../client/index.ts';
import { errorMessage, isAlreadyExists, must } from '../../../machinery/index.ts';
import { type ControllerDefinition, defineController, done, watchObjects } from '../../../runtime/index.ts';
import { isNamespaceTerminating } from '../common/make-pods.ts';
import { fieldManager } from '../common/names.ts';
import { controllerReference } from '../common/ownership.ts';
import { isActive } from '../common/pods.ts';

/** Creates claims for the ephemeral volumes of Pods. */
export function ephemeralClaims(): ControllerDefinition {
  let pods: Lister<Pod> | undefined;
  return defineController({
    name: 'ephemeral-volume-controller',
    for: Pods,
    watches: [
      watchObjects(Pods, { predicates: [({ type, object }) => type === 'add' && ephemeralVolumes(object).length > 0] }),
    ],
    setup(cache) {
      pods = cache.informer(Pods).lister;
    },
    async reconcile({ client, events }, key) {
      const pod = must(pods, 'pods').get(key);
      if (!pod || !isActive(pod)) return done();
      for (const volume of ephemeralVolumes(pod)) {
        const claim = claimOf(pod, volume);
        try {
          await client.create(PersistentVolumeClaims, claim, { fieldManager });
        } catch (error) {
          if (isAlreadyExists(error) || isNamespaceTerminating(error)) continue;
          const message = `ephemeral volume ${volume.name}: create PVC ${claim.metadata.name}: ${errorMessage(error)}`;
          events.event(pod, 'Warning', 'FailedBinding', message);
          throw error;
        }
      }
      return done();
    },
  });
}

function ephemeralVolumes({ spec }: Pod): Volume[] {
  return (spec.volumes ?? []).filter(({ ephemeral }) => ephemeral?.volumeClaimTemplate !== undefined);
}

function claimOf(pod: Pod, volume: Volume): PersistentVolumeClaim {
  const { metadata, spec } = must(volume.ephemeral?.volumeClaimTemplate, 'the template of an ephemeral volume');
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: `${pod.metadata.name}-${volume.name}`,
      namespace: must(pod.metadata.namespace, 'pod.metadata.namespace'),
      ...(metadata?.labels && { labels: metadata.labels }),
      ...(metadata?.annotations && { annotations: metadata.annotations }),
      ownerReferences: [controllerReference({ ...pod, apiVersion: 'v1', kind: Pods.kind })],
    },
    spec: spec as PersistentVolumeClaimSpec,
  };
}
