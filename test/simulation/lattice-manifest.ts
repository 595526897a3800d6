import { type LatticeCluster, LatticeClusters, Namespaces, type Secret, Secrets } from '../../src/api/index.ts';
import { by, type System } from './system.ts';

/** Applies the manifests of a user: the credentials, and a LatticeCluster with endpoints. */
export async function applyLattice(
  { client, cloudsYaml }: System,
  { name, controlPlane, workers }: { name: string; controlPlane: number; workers: number },
): Promise<void> {
  await client.create(Namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'capo-system' } }, by);
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace: 'capo-system', name: 'openstack-cloud-config' },
    data: { 'clouds.yaml': Buffer.from(cloudsYaml).toString('base64') },
  };
  await client.create(Secrets, secret, by);
  const cluster: LatticeCluster = {
    apiVersion: 'lattice.dev/v1alpha1',
    kind: 'LatticeCluster',
    metadata: { name },
    spec: {
      provider: {
        kubernetes: { version: '1.32.0' },
        config: {
          openstack: {
            externalNetworkId: 'public',
            cpFlavor: 'b2-30',
            workerFlavor: 'b2-15',
            imageName: 'Ubuntu 22.04',
            sshKeyName: 'lattice-key',
          },
        },
      },
      nodes: { controlPlane, workerPools: { default: { replicas: workers } } },
      endpoints: {},
    },
  };
  await client.create(LatticeClusters, cluster, by);
}
