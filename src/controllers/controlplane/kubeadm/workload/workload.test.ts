import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  ClusterRoleBindings,
  ConfigMaps,
  DaemonSets,
  Deployments,
  type KubeadmControlPlane,
  Roles,
} from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { type JsonObject, ManualClock, seededRandom } from '../../../../machinery/index.ts';
import { memoryClient } from '../../../../runtime/testkit/index.ts';
import type { ControlPlaneScope } from '../../machine-plane/scope.ts';
import { updateCoreDns, wantedImage } from './core-dns.ts';
import { migrateCorefile } from './corefile.ts';
import { formatImage, parseImage } from './image.ts';
import { updateKubeProxy } from './kube-proxy.ts';
import { upgradedConfiguration } from './kubeadm-config-map.ts';
import { prepareUpgrade } from './prepare-upgrade.ts';

const by = { fieldManager: 'test' };
const signal = new AbortController().signal;
const controlPlane = (version: string, clusterConfiguration?: JsonObject, annotations: Record<string, string> = {}) =>
  ({
    metadata: { name: 'cp', annotations },
    spec: { version, ...(clusterConfiguration && { kubeadmConfigSpec: { clusterConfiguration } }) },
  }) as unknown as KubeadmControlPlane;
const newClient = (): Client => memoryClient({ clock: new ManualClock(), random: seededRandom(1) });

describe('the kubeadm-config of a cluster', () => {
  const old: JsonObject = {
    apiVersion: 'kubeadm.k8s.io/v1beta3',
    kind: 'ClusterConfiguration',
    clusterName: 'c',
    kubernetesVersion: 'v1.30.2',
    networking: { podSubnet: '10.0.0.0/16' },
    apiServer: { extraArgs: { 'a-b': 'c' }, timeoutForControlPlane: '4m0s' },
    etcd: { local: { dataDir: '/data' } },
  };

  it('gets the new version and settings, and keeps fields fixed at creation', () => {
    const desired = controlPlane('v1.31.0', {
      imageRepository: 'r',
      apiServer: { extraArgs: [{ name: 'x', value: 'y' }] },
    });
    expect(upgradedConfiguration(old, desired)).toEqual({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      kind: 'ClusterConfiguration',
      clusterName: 'c',
      kubernetesVersion: 'v1.31.0',
      networking: { podSubnet: '10.0.0.0/16' },
      imageRepository: 'r',
      featureGates: { ControlPlaneKubeletLocalMode: true },
      apiServer: { extraArgs: [{ name: 'x', value: 'y' }] },
      etcd: { local: { dataDir: '/data' } },
    });
  });

  it('keeps its meaning when it is converted to another version', () => {
    expect(upgradedConfiguration(old, controlPlane('v1.31.0'))).toMatchObject({
      apiVersion: 'kubeadm.k8s.io/v1beta4',
      apiServer: { extraArgs: [{ name: 'a-b', value: 'c' }] },
    });
  });
});

describe('the preparation of a kubeadm upgrade', () => {
  const prepare = async (client: Client, version: string): Promise<void> =>
    await prepareUpgrade({
      context: { signal },
      controlPlane: controlPlane(version),
      cluster: { metadata: { name: 'c' } },
      dependencies: { workloads: { client: () => client } },
    } as unknown as ControlPlaneScope);
  const configMap = (name: string, data: Record<string, string>) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'kube-system' },
    data,
  });

  it('writes kubeadm-config and role bindings once', async () => {
    const client = newClient();
    const text = 'apiVersion: kubeadm.k8s.io/v1beta4\nkind: ClusterConfiguration\nkubernetesVersion: v1.33.0\n';
    await client.create(ConfigMaps, configMap('kubeadm-config', { ClusterConfiguration: text }), by);
    await prepare(client, 'v1.34.1');
    const key = { namespace: 'kube-system', name: 'kubeadm-config' };
    const written = await client.get(ConfigMaps, key);
    expect(parse(written.data?.['ClusterConfiguration'] ?? '')).toMatchObject({ kubernetesVersion: 'v1.34.1' });
    const bindings = (await client.list(ClusterRoleBindings)).items.map(({ metadata }) => metadata.name).sort();
    expect(bindings).toEqual(['kubeadm:apiserver-kubelet-client', 'kubeadm:cluster-admins', 'kubeadm:get-nodes']);
    await prepare(client, 'v1.34.1');
    expect((await client.get(ConfigMaps, key)).metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  });

  it('copies the kubelet configuration for versions that have their own', async () => {
    const client = newClient();
    await client.create(
      ConfigMaps,
      configMap('kubeadm-config', { ClusterConfiguration: 'kind: ClusterConfiguration\n' }),
      by,
    );
    await client.create(ConfigMaps, configMap('kubelet-config-1.19', { kubelet: 'a: b' }), by);
    await prepare(client, 'v1.20.4');
    const copy = await client.get(ConfigMaps, { namespace: 'kube-system', name: 'kubelet-config-1.20' });
    expect(copy.data).toEqual({ kubelet: 'a: b' });
    expect(await client.get(Roles, { namespace: 'kube-system', name: 'kubeadm:kubelet-config-1.20' })).toBeDefined();
  });

  it('reports a configuration that cannot be parsed', async () => {
    const client = newClient();
    await client.create(ConfigMaps, configMap('kubeadm-config', {}), by);
    await expect(prepare(client, 'v1.34.1')).rejects.toThrow(/has no ClusterConfiguration/);
  });
});

describe('image names', () => {
  it.each([
    [
      'registry.k8s.io/coredns/coredns:v1.11.1',
      { repository: 'registry.k8s.io/coredns', name: 'coredns', tag: 'v1.11.1' },
    ],
    ['host:5000/a/b', { repository: 'host:5000/a', name: 'b', tag: '' }],
    ['x:1', { repository: '', name: 'x', tag: '1' }],
  ])('are split: %s', (text, parts) => {
    expect(parseImage(text)).toEqual(parts);
    expect(formatImage(parts)).toBe(text);
  });

  it.each([
    ['registry.k8s.io/coredns:1.7.0', { dns: { imageTag: 'v1.8.0' } }, 'registry.k8s.io/coredns/coredns:v1.8.0'],
    [
      'registry.k8s.io/coredns/coredns:v1.11.1',
      { dns: { imageTag: 'v1.12.0' } },
      'registry.k8s.io/coredns/coredns:v1.12.0',
    ],
    ['registry.k8s.io/coredns/coredns:v1.11.1', { imageRepository: 'mine/' }, 'mine/coredns:v1.11.1'],
    ['a/coredns:v1', { dns: { imageRepository: 'b', imageTag: 'v2.0' } }, 'b/coredns:v2.0'],
    ['a/coredns:v1.2', {}, 'a/coredns:v1.2'],
  ])('of CoreDNS are computed for: %s', (current, configuration, wanted) => {
    expect(formatImage(wantedImage(parseImage(current), configuration))).toBe(wanted);
  });
});

const podSpec = (name: string, image: string): JsonObject => ({
  containers: [{ name, image }],
  volumes: [{ name: 'config-volume', configMap: { name: 'coredns', items: [{ key: 'Corefile', path: 'Corefile' }] } }],
});
const workload = (kind: string, name: string, image: string) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name, namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { a: name } },
    template: { metadata: { labels: { a: name } }, spec: podSpec(name, image) },
  },
});

describe('kube-proxy', () => {
  const key = { namespace: 'kube-system', name: 'kube-proxy' };
  it.each<[string, KubeadmControlPlane, string]>([
    ['follows the version', controlPlane('v1.34.1'), 'r/kube-proxy:v1.34.1'],
    ['and the repository', controlPlane('v1.34.1+k1', { imageRepository: 'mine' }), 'mine/kube-proxy:v1.34.1_k1'],
    [
      'unless told not to',
      controlPlane('v1.34.1', {}, { 'controlplane.cluster.x-k8s.io/skip-kube-proxy': '' }),
      'r/kube-proxy:v1.33.0',
    ],
  ])('image %s', async (_, desired, expected) => {
    const client = newClient();
    await client.create(DaemonSets, workload('DaemonSet', 'kube-proxy', 'r/kube-proxy:v1.33.0') as never, by);
    await updateKubeProxy(client, desired, signal);
    const stored = await client.get(DaemonSets, key);
    expect(stored.spec.template?.spec?.containers[0]?.image).toBe(expected);
  });

  it('is not created when there is none', async () => {
    const client = newClient();
    await updateKubeProxy(client, controlPlane('v1.34.1'), signal);
    expect((await client.list(DaemonSets)).items).toEqual([]);
  });
});

describe('CoreDNS', () => {
  const corefile =
    '.:53 {\n    errors\n    kubernetes cluster.local {\n        upstream\n    }\n    proxy . /etc/resolv.conf\n}\n';

  it('has its Corefile migrated to a newer version', () => {
    const migrated = migrateCorefile(corefile, [1, 3, 1], [1, 8, 0]);
    expect(migrated).toBe(
      '.:53 {\n    errors\n    ready\n    kubernetes cluster.local {\n    }\n    forward . /etc/resolv.conf\n}\n',
    );
    expect(migrateCorefile(migrated, [1, 8, 0], [1, 12, 0])).toBe(migrated);
    expect(migrateCorefile('a {\n  federation x {\n    y z\n  }\n  log\n}', [1, 6, 9], [1, 7, 0])).toBe(
      'a {\n  log\n}',
    );
  });

  it('is updated with its Corefile, and the old Corefile is kept', async () => {
    const client = newClient();
    const key = { namespace: 'kube-system', name: 'coredns' };
    const map = (name: string, data: Record<string, string>) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'kube-system' },
      data,
    });
    await client.create(ConfigMaps, map('coredns', { Corefile: corefile }), by);
    await client.create(
      ConfigMaps,
      map('kubeadm-config', { ClusterConfiguration: 'kind: ClusterConfiguration\n' }),
      by,
    );
    await client.create(Deployments, workload('Deployment', 'coredns', 'r/coredns:1.3.1') as never, by);
    const desired = controlPlane('v1.34.1', { dns: { imageTag: 'v1.8.0' } });
    await updateCoreDns(client, desired, signal);
    const deployment = await client.get(Deployments, key);
    expect(deployment.spec.template?.spec?.containers[0]?.image).toBe('r/coredns:v1.8.0');
    const data = (await client.get(ConfigMaps, key)).data ?? {};
    expect(data['Corefile-backup']).toBe(corefile);
    expect(data['Corefile']).toContain('forward');
    const { resourceVersion } = deployment.metadata;
    await updateCoreDns(client, desired, signal);
    expect((await client.get(Deployments, key)).metadata.resourceVersion).toBe(resourceVersion);
    await expect(
      updateCoreDns(client, controlPlane('v1.34.1', { dns: { imageTag: 'v1.7.0' } }), signal),
    ).rejects.toThrow(/lower than/);
  });
});
