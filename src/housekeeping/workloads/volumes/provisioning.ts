import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type StorageClass,
} from '../../../api/index.ts';
import { objectKey } from '../../../client/index.ts';
import { errorMessage, ignoreNotFound, isAlreadyExists, must, quantityValue } from '../../../machinery/index.ts';
import type { ReconcileContext } from '../../../runtime/index.ts';
import { fieldManager } from '../common/names.ts';
import { bind } from './binding.ts';
import { classOf, requestOf } from './claims.ts';
import { type Provisioner, type Provisioners, provisionedBy, provisioningFinalizer } from './provisioner.ts';

/** finalizer that keeps a volume until its data is reclaimed */
export const reclaimFinalizer = 'external-provisioner.volume.kubernetes.io/finalizer';
export const storageProvisioner = 'volume.kubernetes.io/storage-provisioner';
const storageProvisionerBeta = 'volume.beta.kubernetes.io/storage-provisioner';

type Context = Pick<ReconcileContext, 'client' | 'events' | 'clock'>;

export function isBeingProvisioned({ metadata }: PersistentVolumeClaim): boolean {
  return metadata.finalizers?.includes(provisioningFinalizer) ?? false;
}

/** Provisions a volume for an unbound claim, or reports what the claim waits for. */
export async function provisionFor(
  context: Context,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  { provisioners, mustWait }: { provisioners: Provisioners; mustWait: boolean },
): Promise<void> {
  const { client, events } = context;
  const className = classOf(claim);
  if (className === '') {
    const message = 'no persistent volumes available for this claim and no storage class is set';
    events.event(claim, 'Normal', 'FailedBinding', message);
    return;
  }
  if (!storageClass) {
    events.event(claim, 'Warning', 'ProvisioningFailed', `storageclass.storage.k8s.io "${className}" not found`);
    return;
  }
  if (mustWait) {
    events.event(claim, 'Normal', 'WaitForFirstConsumer', 'waiting for first consumer to be created before binding');
    return;
  }
  const name = storageClass.provisioner ?? '';
  const provisioner = provisioners[name];
  if (!provisioner) {
    const message = `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.`;
    events.event(claim, 'Normal', 'ExternalProvisioning', message);
    await callProvisioner(context, claim, name);
    return;
  }
  const { annotations, finalizers = [], resourceVersion } = claim.metadata;
  const held = isBeingProvisioned(claim)
    ? claim
    : await client.patch(
        PersistentVolumeClaims,
        objectKey(claim),
        'merge',
        {
          metadata: {
            resourceVersion: must(resourceVersion, 'resourceVersion'),
            annotations: { ...annotations, [storageProvisioner]: name, [storageProvisionerBeta]: name },
            finalizers: [...finalizers, provisioningFinalizer],
          },
        },
        { fieldManager },
      );
  await bind(context, held, await makeVolume(context, held, storageClass, provisioner));
}

/** An external provisioner acts on claims annotated with its name. */
async function callProvisioner({ client }: Context, claim: PersistentVolumeClaim, name: string): Promise<void> {
  const { annotations, resourceVersion } = claim.metadata;
  if (annotations?.[storageProvisioner] === name) return;
  const metadata = {
    resourceVersion: must(resourceVersion, 'resourceVersion'),
    annotations: { [storageProvisioner]: name, [storageProvisionerBeta]: name },
  };
  await client.patch(PersistentVolumeClaims, objectKey(claim), 'merge', { metadata }, { fieldManager });
}

/**
 * Completes the volume of a claim that is deleted during provisioning, so that the volume is reclaimed in the normal
 * way.
 */
export async function finishAbandoned(
  context: Context,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
  provisioners: Provisioners,
): Promise<void> {
  const provisioner = provisioners[storageClass?.provisioner ?? ''];
  if (storageClass && provisioner) await makeVolume(context, claim, storageClass, provisioner);
  const { finalizers = [], resourceVersion } = claim.metadata;
  const rest = finalizers.filter((name) => name !== provisioningFinalizer);
  const patch = { metadata: { resourceVersion: must(resourceVersion, 'resourceVersion'), finalizers: rest } };
  await context.client
    .patch(PersistentVolumeClaims, objectKey(claim), 'merge', patch, { fieldManager })
    .catch(ignoreNotFound);
}

/** Creates the volume of a claim. Idempotent. */
export async function makeVolume(
  { client, events }: Context,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass,
  provisioner: Provisioner,
  /** only node the volume can be used on; absent for any node */
  nodeName?: string,
): Promise<PersistentVolume> {
  const name = `pvc-${claim.metadata.uid}`;
  const capacity = requestOf(claim);
  let made: Awaited<ReturnType<Provisioner['provision']>>;
  try {
    made = await provisioner.provision({ name, claim, storageClass, capacityBytes: quantityValue(capacity) });
  } catch (error) {
    const message = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${errorMessage(error)}`;
    events.event(claim, 'Warning', 'ProvisioningFailed', message);
    throw error;
  }
  const { namespace, name: claimName, uid, resourceVersion } = claim.metadata;
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      annotations: { [provisionedBy]: must(storageClass.provisioner, 'storageClass.provisioner') },
      finalizers: [reclaimFinalizer],
    },
    spec: {
      ...made.source,
      capacity: { storage: made.capacity ?? capacity },
      accessModes: claim.spec.accessModes ?? [],
      claimRef: {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        namespace: must(namespace, 'namespace'),
        name: must(claimName, 'claimName'),
        uid: must(uid, 'uid'),
        resourceVersion: must(resourceVersion, 'resourceVersion'),
      },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: must(storageClass.metadata.name, 'storageClass.metadata.name'),
      ...(storageClass.mountOptions && { mountOptions: storageClass.mountOptions }),
      volumeMode: claim.spec.volumeMode ?? 'Filesystem',
      ...(nodeName !== undefined && { nodeAffinity: onNode(nodeName) }),
    },
  };
  try {
    const stored = await client.create(PersistentVolumes, volume, { fieldManager });
    events.event(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
    return stored;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return await client.get(PersistentVolumes, { name });
  }
}

function onNode(name: string): NonNullable<PersistentVolume['spec']['nodeAffinity']> {
  const expression = { key: 'kubernetes.io/hostname', operator: 'In', values: [name] };
  return { required: { nodeSelectorTerms: [{ matchExpressions: [expression] }] } };
}
