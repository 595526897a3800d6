import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ConfigMap } from '../../api/index.ts';
import { factsOf, hostedPlaneSpec, k0smotronPlaneSpec, kamajiPlaneSpec } from '../testing/specs.ts';
import { cloudCredentialObjects } from './cloud-credentials.ts';
import { workloadObjects } from './index.ts';
import { kubeletConfiguration } from './kubeadm.ts';

const find = (desired: ReturnType<typeof hostedPlaneSpec>, kind: string, name: string) =>
  workloadObjects(desired, factsOf(desired)).find(
    ({ object }) => object.kind === kind && object.metadata.name === name,
  );

describe('a workload cluster', () => {
  it('publishes the address of its API and the authority that vouches for it', () => {
    const info = find(hostedPlaneSpec(), 'ConfigMap', 'cluster-info')?.object as ConfigMap;
    const { clusters } = parse(info.data?.['kubeconfig'] ?? '') as {
      clusters: { name: string; cluster: Record<string, string> }[];
    };
    expect(clusters).toMatchObject([{ name: '', cluster: { server: 'https://shop.teams.planes.example.org:443' } }]);
  });

  it('lets nodes renew only their own certificates', () => {
    const binding = find(kamajiPlaneSpec(), 'ClusterRoleBinding', 'kubeadm:node-autoapprove-certificate-rotation');
    expect(binding?.object).toMatchObject({ roleRef: { name: expect.stringMatching(/:selfnodeclient$/) } });
  });

  it('leaves the Corefile and the number of CoreDNS replicas to its users', () => {
    expect(find(hostedPlaneSpec(), 'ConfigMap', 'coredns')?.mode).toBe('once');
    expect(find(hostedPlaneSpec(), 'Deployment', 'coredns')).toMatchObject({
      mode: 'once',
      follow: [['spec', 'template', 'spec', 'containers', 'coredns', 'image']],
    });
  });

  it.each(['coredns', 'konnectivity-agent'])('runs %s on nodes that are not initialized yet', (name) => {
    const text = JSON.stringify(find(hostedPlaneSpec(), 'Deployment', name));
    expect(text).toContain('node.cloudprovider.kubernetes.io/uninitialized');
    expect(text).toContain('node.cluster.x-k8s.io/uninitialized');
  });

  it('has no more konnectivity agents than nodes', () => {
    const desired = hostedPlaneSpec();
    const agents = workloadObjects(desired, factsOf(desired, { workload: { nodes: 1, kubeletVersions: [] } }));
    expect(
      agents.find(({ object }) => object.metadata.name === 'konnectivity-agent' && object.kind === 'Deployment')
        ?.object,
    ).toMatchObject({
      spec: { replicas: 1 },
    });
    expect(find(kamajiPlaneSpec(), 'DaemonSet', 'konnectivity-agent')).toBeDefined();
  });

  it('gets add-ons from k0s itself, which follows its configuration without a restart', () => {
    const desired = k0smotronPlaneSpec();
    const [config, ...more] = workloadObjects(desired, factsOf(desired));
    expect(more).toEqual([]);
    expect(config).toMatchObject({
      mode: 'own',
      object: { kind: 'ClusterConfig', metadata: { name: 'k0s', namespace: 'kube-system' } },
    });
    expect(config?.object).not.toHaveProperty('spec.storage');
  });

  it('gets no k0s configuration object when the user wants the file only', () => {
    const { k0s } = k0smotronPlaneSpec();
    const desired = k0smotronPlaneSpec({ k0s: { ...k0s!, flags: ['--enable-dynamic-config=false'] } });
    expect(workloadObjects(desired, factsOf(desired))).toEqual([]);
  });

  it('applies patches of the kubelet configuration', () => {
    const desired = kamajiPlaneSpec({
      addons: { kubeadm: true, kubeletPatches: [{ op: 'add', path: '/maxPods', value: 50 }] },
    });
    expect(kubeletConfiguration(desired)).toMatchObject({ maxPods: 50, clusterDNS: ['10.96.0.10'] });
  });
});

describe('credentials of the cloud', () => {
  it('writes the credentials in both forms into every Secret that asks for them', () => {
    const secrets = [
      { namespace: 'kube-system', name: 'a' },
      { namespace: 'csi', name: 'b' },
    ];
    const credentials = { secrets, cloudsYaml: 'clouds: {}', cloudConf: '[Global]', ca: 'PEM' };
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const data = { 'clouds.yaml': base64('clouds: {}'), 'cloud.conf': base64('[Global]'), cacert: base64('PEM') };
    expect(cloudCredentialObjects(credentials)).toMatchObject(
      secrets.map((metadata) => ({ mode: 'marked', object: { kind: 'Secret', metadata, data } })),
    );
  });
});
