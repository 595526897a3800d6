import {
  ConfigMaps,
  type K0smotronCluster,
  K0smotronClusters,
  PersistentVolumeClaims,
  Pods,
  Secrets,
  type StatefulSet,
  StatefulSets,
} from '../../../../api/index.ts';
import type { OwnerReference } from '../../../../machinery/index.ts';
import { createAuthority, createServiceAccountKeyPair, issueCertificate } from '../../../../pki/index.ts';
import { ownerReference } from '../../../shared/index.ts';
import { by } from '../../../testing/world.ts';
import { clusterName, guideSpec, type K0smotronWorld } from './k0smotron-world.ts';

// A standalone control plane as k0smotron 2.1 leaves it: what its program writes into the spec, the StatefulSets with
// its selectors, scripts and environment, and the Secrets without labels of ours.

export const upstreamEtcdImage = 'quay.io/k0sproject/etcd:v3.5.13';
const service = `kmc-${clusterName}-etcd`;
const userLabels = { team: 'shop' };
const pausing = { 'cluster.x-k8s.io/paused': '' };

/** Creates the objects of a plane with three etcd members, and waits until its Pods run. The plane stays paused. */
export async function createUpstreamPlane(world: K0smotronWorld): Promise<void> {
  const { client, namespace } = world;
  const plane = await client.create(
    K0smotronClusters,
    {
      apiVersion: 'k0smotron.io/v1beta2',
      kind: 'Cluster',
      metadata: { name: clusterName, namespace, labels: userLabels, annotations: pausing },
      spec: {
        ...guideSpec,
        replicas: 3,
        externalAddress: '127.65.0.9',
        certificateRefs: [
          { type: 'ca', name: `${clusterName}-ca` },
          { type: 'proxy', name: `${clusterName}-proxy` },
          { type: 'sa', name: `${clusterName}-sa` },
          { type: 'etcd', name: `${clusterName}-etcd` },
          { type: 'apiserver-etcd-client', name: `${clusterName}-apiserver-etcd-client` },
        ],
        manifests: [{ name: `kmc-${clusterName}-endpoint`, configMap: { name: `kmc-${clusterName}-endpoint` } }],
        storage: { type: 'etcd', etcd: { image: upstreamEtcdImage, persistence: { size: '0', storageClass: '' } } },
      },
    } as K0smotronCluster,
    by,
  );
  const owner = ownerReference(plane, K0smotronClusters, { controller: true });
  await createSecrets(world, owner);
  for (const name of [`kmc-${clusterName}-config`, `kmc-${clusterName}-endpoint`]) {
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ownerReferences: [owner] } };
    await client.create(ConfigMaps, configMap, by);
  }
  await client.create(StatefulSets, etcdSet(namespace, owner), by);
  await client.create(StatefulSets, controllerSet(namespace, owner), by);
  await world.until(async () => {
    const { items } = await client.list(Pods, { namespace });
    const ready = items.filter(({ status }) =>
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    );
    return ready.length === 6;
  });
}

/** Lets the controllers begin. */
export async function resume({ client, namespace }: K0smotronWorld): Promise<void> {
  const patch = { metadata: { annotations: { 'cluster.x-k8s.io/paused': null } } };
  await client.patch(K0smotronClusters, { namespace, name: clusterName }, 'merge', patch, by);
}

/** Uids of the claims of etcd. */
export async function claimsOf({ client, namespace }: K0smotronWorld): Promise<string[]> {
  const { items } = await client.list(PersistentVolumeClaims, { namespace });
  return items.map(({ metadata }) => `${metadata.name} ${metadata.uid}`).sort();
}

async function createSecrets({ client, clock, namespace }: K0smotronWorld, owner: OwnerReference): Promise<void> {
  const put = async (end: string, certificate: string, privateKey: string): Promise<void> => {
    const encode = (text: string): string => Buffer.from(text).toString('base64');
    await client.create(
      Secrets,
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: `${clusterName}-${end}`,
          namespace,
          labels: { 'cluster.x-k8s.io/cluster-name': clusterName },
          ownerReferences: [owner],
        },
        type: 'cluster.x-k8s.io/secret',
        data: { 'tls.crt': encode(certificate), 'tls.key': encode(privateKey) },
      },
      by,
    );
  };
  for (const end of ['ca', 'proxy']) {
    const { certificate, privateKey } = await createAuthority({ commonName: 'kubernetes', clock });
    await put(end, certificate, privateKey);
  }
  const authority = await createAuthority({ commonName: 'kubernetes', clock });
  await put('etcd', authority.certificate, authority.privateKey);
  const keys = await createServiceAccountKeyPair();
  await put('sa', keys.publicKey, keys.privateKey);
  for (const end of ['apiserver-etcd-client', 'etcd-server', 'etcd-peer']) {
    const leaf = await issueCertificate({
      authority,
      commonName: end,
      organizations: [end],
      hosts: ['127.0.0.1', 'localhost', service, `*.${service}`],
      usages: ['server', 'client'],
      clock,
    });
    await put(end, leaf.certificate, leaf.privateKey);
  }
}

function etcdSet(namespace: string, owner: OwnerReference): StatefulSet {
  const labels = { ...userLabels, app: 'k0smotron', cluster: clusterName, component: 'etcd' };
  const members = [0, 1, 2].map((index) => `${service}-${index}=https://${service}-${index}.${service}:2380`);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: service, namespace, labels, ownerReferences: [owner] },
    spec: {
      serviceName: service,
      replicas: 3,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'etcd',
              image: upstreamEtcdImage,
              command: ['/bin/bash'],
              args: ['-c', 'etcd --name $HOSTNAME'],
              env: [{ name: 'ETCD_INITIAL_CLUSTER', value: members.join(',') }],
            },
          ],
        },
      },
      volumeClaimTemplates: [
        {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          metadata: { name: 'etcd-data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  };
}

function controllerSet(namespace: string, owner: OwnerReference): StatefulSet {
  const name = `kmc-${clusterName}`;
  const labels = {
    ...userLabels,
    app: 'k0smotron',
    cluster: clusterName,
    component: 'cluster',
    'cluster.x-k8s.io/control-plane': 'true',
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace, labels, ownerReferences: [owner] },
    spec: {
      serviceName: '',
      replicas: 3,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'controller', image: 'ghcr.io/k0sproject/k0s:v1.32.6-k0s.0' }] },
      },
    },
  };
}
