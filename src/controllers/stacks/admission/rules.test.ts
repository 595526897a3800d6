import { describe, expect, it } from 'vitest';
import type { Cluster, ClusterStack, ClusterStackRelease } from '../../../api/index.ts';
import { checkCluster } from './cluster-rules.ts';
import { releaseInUse, stackInUse } from './in-use.ts';

const stack = 'openstack-hosted-control-plane';

function cluster(className: string, version: string, more: { classNamespace?: string; name?: string } = {}): Cluster {
  const { classNamespace, name = 'c' } = more;
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name, namespace: 'tenant' },
    spec: {
      topology: { classRef: { name: className, ...(classNamespace && { namespace: classNamespace }) }, version },
    },
  };
}

function release(name: string, kubernetesVersion?: string, ready = true): ClusterStackRelease {
  return {
    apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
    kind: 'ClusterStackRelease',
    metadata: { name, namespace: 'stacks' },
    spec: {},
    status: { ready, ...(kubernetesVersion !== undefined && { kubernetesVersion }) },
  };
}

const releases = [
  release(`${stack}-1-32-v1`, 'v1.32.8'),
  release(`${stack}-1-33-v1`, 'v1.33.6'),
  release(`${stack}-1-33-v2`, 'v1.33.7'),
  release(`${stack}-1-34-v1`, 'v1.34.4'),
  release(`${stack}-1-35-v1`),
];
const inStacks = async (namespace: string): Promise<ClusterStackRelease[]> => (namespace === 'stacks' ? releases : []);
const at = { classNamespace: 'stacks' };
const errors = async (next: Cluster, old?: Cluster): Promise<string[]> =>
  (await checkCluster(next, old, inStacks)).errors.map(({ field, detail }) => `${field}: ${detail}`);

describe('admission of a Cluster of a stack', () => {
  it('requires the version of the release from the namespace of the class', async () => {
    expect(await errors(cluster(`${stack}-1-33-v1`, 'v1.33.6', at))).toEqual([]);
    expect(await errors(cluster(`${stack}-1-33-v1`, 'v1.33.5', at))).toEqual([
      `spec.topology.version: class ${stack}-1-33-v1 expects Kubernetes version v1.33.6, but got v1.33.5`,
    ]);
  });

  it('ignores classes without a stack, and warns when the release is unknown', async () => {
    expect(await checkCluster(cluster('quick-start', 'v1.30.0'), undefined, inStacks)).toEqual({
      errors: [],
      warnings: [],
    });
    const plain = cluster('x', 'v1.30.0');
    plain.spec = { controlPlaneRef: { apiGroup: 'g', kind: 'K', name: 'n' } };
    expect((await checkCluster(plain, undefined, inStacks)).warnings).toEqual([]);
    const unknown = await checkCluster(cluster(`${stack}-1-33-v1`, 'v1.33.6'), undefined, inStacks);
    expect(unknown.errors).toEqual([]);
    expect(unknown.warnings[0]).toContain(`there is no ClusterStackRelease ${stack}-1-33-v1 in namespace tenant`);
    const early = await checkCluster(cluster(`${stack}-1-35-v1`, 'v1.35.0', at), undefined, inStacks);
    expect(early.warnings[0]).toContain('does not know its version of Kubernetes yet');
  });

  it('allows class and version to change together, one minor at a time', async () => {
    const old = cluster(`${stack}-1-33-v1`, 'v1.33.6', at);
    expect(await errors(cluster(`${stack}-1-33-v2`, 'v1.33.7', at), old)).toEqual([]);
    expect(await errors(cluster(`${stack}-1-34-v1`, 'v1.34.4', at), old)).toEqual([]);
    const [jump] = await errors(cluster(`${stack}-1-34-v1`, 'v1.34.4', at), cluster(`${stack}-1-32-v1`, 'v1.32.8', at));
    expect(jump).toContain('a jump from Kubernetes 1.32 to 1.34');
    expect(jump).toContain(`possible: class ${stack}-1-33-v1 with version v1.33.6`);
  });

  it('refuses a changed version alone, and names the possible classes and versions', async () => {
    const old = cluster(`${stack}-1-33-v1`, 'v1.33.6', at);
    const [refused] = await errors(cluster(`${stack}-1-33-v1`, 'v1.32.8', at), old);
    expect(refused).toContain(`class ${stack}-1-33-v1 expects Kubernetes version v1.33.6, but got v1.32.8`);
    expect(refused).toContain('change class and version together');
    expect(refused).toContain(`class ${stack}-1-34-v1 with version v1.34.4`);
  });

  it('says how to get a release to upgrade to when there is none', async () => {
    const old = cluster(`${stack}-1-33-v1`, 'v1.33.6', at);
    const only = async (): Promise<ClusterStackRelease[]> => [release(`${stack}-1-33-v1`, 'v1.33.6')];
    const { errors: refused } = await checkCluster(cluster(`${stack}-1-33-v1`, 'v1.34.4', at), old, only);
    expect(refused[0]?.detail).toContain('ask for a release of Kubernetes 1.34 with a ClusterStack');
  });

  it('refuses downgrades and other stacks', async () => {
    const old = cluster(`${stack}-1-33-v1`, 'v1.33.6', at);
    expect((await errors(cluster(`${stack}-1-32-v1`, 'v1.32.8', at), old))[0]).toContain('a downgrade');
    expect((await errors(cluster('openstack-scs2-1-33-v1', 'v1.33.6', at), old))[0]).toContain(
      'cluster stack name must not change. Got scs2, want hosted-control-plane',
    );
    expect((await errors(cluster('docker-hosted-control-plane-1-33-v1', 'v1.33.6', at), old))[0]).toContain(
      'provider name must not change',
    );
  });

  it('accepts unrelated changes of an invalid Cluster', async () => {
    const odd = cluster(`${stack}-1-33-v1`, 'v1.33.1', at);
    const labelled = { ...odd, metadata: { ...odd.metadata, labels: { a: 'b' } } };
    expect(await errors(labelled, odd)).toEqual([]);
  });
});

describe('a stack resource in use', () => {
  const custom = `${stack}-1-33-v0-sha.abc`;
  const users = [cluster(custom, 'v1.33.6', { ...at, name: 'a' }), cluster('quick-start', 'v1.33.6')];

  it('is a release whose class is used by a Cluster of any namespace, with dots or dashes', () => {
    expect(releaseInUse(release(`${stack}-1-33-v0-sha-abc`), users)).toBe(
      "can't delete ClusterStackRelease as there are clusters using it: tenant/a",
    );
    expect(releaseInUse(release(`${stack}-1-33-v0-sha-abd`), users)).toBeUndefined();
    const elsewhere = {
      ...release(`${stack}-1-33-v0-sha-abc`),
      metadata: { name: `${stack}-1-33-v0-sha-abc`, namespace: 'x' },
    };
    expect(releaseInUse(elsewhere, users)).toBeUndefined();
  });

  it('is a ClusterStack with Clusters of its family and channel', () => {
    const of = (channel: 'stable' | 'custom', kubernetesVersion = '1.33'): ClusterStack => ({
      apiVersion: 'clusterstack.x-k8s.io/v1alpha1',
      kind: 'ClusterStack',
      metadata: { name: 's', namespace: 'stacks' },
      spec: { provider: 'openstack', name: 'hosted-control-plane', kubernetesVersion, channel },
    });
    expect(stackInUse(of('custom'), users)).toContain('tenant/a');
    expect(stackInUse(of('stable'), users)).toBeUndefined();
    expect(stackInUse(of('custom', '1.32'), users)).toBeUndefined();
  });
});
