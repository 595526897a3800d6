import {
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  type Pod,
  Pods,
  type StatefulSet,
  StatefulSets,
} from '../../../api/index.ts';
import { type Lister, objectKey } from '../../../client/index.ts';
import {
  asJson,
  deepEqual,
  errorMessage,
  ignoreNotFound,
  isAlreadyExists,
  must,
  type OwnerReference,
} from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { controllerReference } from '../common/ownership.ts';
import { claimName } from './member.ts';

type ClaimContext = Pick<ReconcileContext, 'client' | 'events'>;

/** Creates the missing claims of a StatefulSet Pod. */
export async function createClaims(
  { client, events }: ClaimContext,
  claims: Lister<PersistentVolumeClaim>,
  set: StatefulSet,
  podName: string,
): Promise<void> {
  const namespace = must(set.metadata.namespace, 'set.metadata.namespace');
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const name = claimName(template, podName);
    if (claims.get({ namespace, name })) continue;
    const about = `Claim ${name} Pod ${podName} in StatefulSet ${set.metadata.name}`;
    try {
      await client.create(PersistentVolumeClaims, newClaim(set, template, name), { fieldManager });
      events.event(set, 'Normal', 'SuccessfulCreate', `create ${about} success`);
    } catch (error) {
      if (isAlreadyExists(error)) continue;
      events.event(set, 'Warning', 'FailedCreate', `create ${about} failed error: ${errorMessage(error)}`);
      throw error;
    }
  }
}

function newClaim(set: StatefulSet, template: PersistentVolumeClaim, name: string): PersistentVolumeClaim {
  const { labels, annotations } = template.metadata;
  const owners = desiredOwners(set, undefined);
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: must(set.metadata.namespace, 'set.metadata.namespace'),
      labels: { ...labels, ...set.spec.selector?.matchLabels },
      ...(annotations && { annotations }),
      ...(owners.length > 0 && { ownerReferences: owners }),
    },
    spec: template.spec,
  };
}

/** Owners of a claim under the retention policy: the set, or the Pod that is scaled away. */
function desiredOwners(set: StatefulSet, condemned: Pod | undefined): OwnerReference[] {
  const { whenDeleted, whenScaled } = set.spec.persistentVolumeClaimRetentionPolicy ?? {};
  if (condemned && whenScaled === 'Delete') return [controllerReference(typed(condemned))];
  return whenDeleted === 'Delete' ? [controllerReference(set)] : [];
}

/** Lists may omit the apiVersion and kind of their items. */
function typed(pod: Pod): Pod {
  return { ...pod, apiVersion: 'v1', kind: Pods.kind };
}

/** Updates the owner references of a Pod's claims. */
export async function keepClaimOwners(
  { client }: ClaimContext,
  claims: Lister<PersistentVolumeClaim>,
  set: StatefulSet,
  { pod, isCondemned }: { pod: Pod; isCondemned: boolean },
): Promise<void> {
  const desired = desiredOwners(set, isCondemned ? pod : undefined);
  for (const template of set.spec.volumeClaimTemplates ?? []) {
    const key = {
      namespace: must(set.metadata.namespace, 'set.metadata.namespace'),
      name: claimName(template, must(pod.metadata.name, 'pod.metadata.name')),
    };
    const claim = claims.get(key);
    if (!claim || claim.metadata.deletionTimestamp !== undefined) continue;
    const present = claim.metadata.ownerReferences ?? [];
    const others = present.filter(({ uid, kind, name }) => {
      const isMember = kind === Pods.kind && name === pod.metadata.name;
      return uid !== set.metadata.uid && !isMember && !(kind === StatefulSets.kind && name === set.metadata.name);
    });
    const owners = others.some(({ controller }) => controller) ? present : [...others, ...desired];
    if (deepEqual(present, owners)) continue;
    const patch = {
      metadata: {
        resourceVersion: must(claim.metadata.resourceVersion, 'claim.metadata.resourceVersion'),
        ownerReferences: asJson(owners),
      },
    };
    await client
      .patch(PersistentVolumeClaims, objectKey(claim), 'merge', patch, { fieldManager })
      .catch(ignoreNotFound);
  }
}
