import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type PersistentVolume,
  type PersistentVolumeClaim,
  PersistentVolumeClaims,
  PersistentVolumes,
  type Service,
  Services,
} from '../../src/api/index.ts';
import { type HttpClient, httpClient, loadKubeconfig } from '../../src/client/index.ts';
import { ignoreNotFound } from '../../src/machinery/index.ts';
import { kubectlApply } from '../support/kubectl.ts';
import { balancerAddress, nodeName } from './network.ts';

const by = { fieldManager: 'reality' };
const storageClass = 'local';
const provisioner = 'reality.test/local';
const intervalMs = 250;

export interface ProviderOptions {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
}

/** Provides what a cloud adds to Kubernetes: volumes for claims, and addresses for Services of type LoadBalancer. */
export async function startProviders(options: ProviderOptions): Promise<void> {
  const { directory, kubeconfig, signal, say } = options;
  await kubectlApply(
    kubeconfig,
    directory,
    JSON.stringify({
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClass, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner,
    }),
  );
  const client = httpClient(await loadKubeconfig({ path: kubeconfig, env: {} }));
  const volumes = join(directory, 'volumes');
  const addresses = new Map<string, string>();
  void (async () => {
    while (!signal.aborted) {
      try {
        await provideVolumes(client, volumes);
        await provideAddresses(client, addresses);
      } catch (error) {
        if (!signal.aborted) say(`volumes and addresses: ${String(error)}`);
      }
      await delay(intervalMs);
    }
    await client.close();
  })();
}

async function provideVolumes(client: HttpClient, directory: string): Promise<void> {
  for (const claim of (await client.list(PersistentVolumeClaims)).items) {
    if (claim.spec.storageClassName === storageClass && !claim.spec.volumeName) {
      await provideVolume(client, claim, directory);
    }
  }
  for (const volume of (await client.list(PersistentVolumes)).items) {
    if (volume.spec.storageClassName !== storageClass || volume.status?.phase !== 'Released') continue;
    await rm(volume.spec.local?.path ?? '', { recursive: true, force: true });
    await client.delete(PersistentVolumes, { name: volume.metadata.name ?? '' }).catch(ignoreNotFound);
  }
}

/** Creates local volumes instead of hostPath, because they support fsGroup like disks of a cloud. */
async function provideVolume(client: HttpClient, claim: PersistentVolumeClaim, directory: string): Promise<void> {
  const { name = '', namespace = '', uid = '' } = claim.metadata;
  const volume = `pv-${uid}`;
  const path = join(directory, volume);
  await mkdir(path, { recursive: true });
  const object: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: volume, annotations: { 'pv.kubernetes.io/provisioned-by': provisioner } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.['storage'] ?? '1Gi' },
      accessModes: claim.spec.accessModes ?? ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: storageClass,
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', name, namespace, uid },
      local: { path },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] }] },
          ],
        },
      },
    },
  };
  await client.apply(PersistentVolumes, object, { ...by, force: true });
}

async function provideAddresses(client: HttpClient, addresses: Map<string, string>): Promise<void> {
  for (const service of (await client.list(Services)).items as Service[]) {
    const { name = '', namespace = '', uid = '' } = service.metadata;
    if (service.spec.type !== 'LoadBalancer' || service.status?.loadBalancer?.ingress?.length) continue;
    const ip = addresses.get(uid) ?? balancerAddress(addresses.size);
    addresses.set(uid, ip);
    const status = { loadBalancer: { ingress: [{ ip }] } };
    await client.patch(Services, { name, namespace }, 'merge', { status }, { ...by, subresource: 'status' });
  }
}
