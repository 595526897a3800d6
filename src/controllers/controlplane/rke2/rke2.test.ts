import { describe, expect, it } from 'vitest';
import type { Cluster, Machine, Node, RKE2Config, RKE2ControlPlane } from '../../../api/index.ts';
import type { EtcdClient, EtcdMember } from '../etcd-client/types.ts';
import { serverConfigurationAnnotation } from './config-spec.ts';
import { membersByNode } from './etcd-members.ts';
import { metadataVerdict } from './node-metadata.ts';
import { rke2Provider } from './provider.ts';
import { serverAddresses } from './server-addresses.ts';

const plane = (spec: Partial<RKE2ControlPlane['spec']> = {}, annotations: Record<string, string> = {}) =>
  ({ metadata: { name: 'c1', annotations }, spec: { version: 'v1.34.2+rke2r1', ...spec } }) as RKE2ControlPlane;
const machine = (name: string, more: { internal?: string; external?: string; node?: false } = {}): Machine =>
  ({
    metadata: { name },
    status: {
      ...(more.node !== false && { nodeRef: { name } }),
      addresses: [
        ...(more.external ? [{ type: 'ExternalIP', address: more.external }] : []),
        ...(more.internal ? [{ type: 'InternalIP', address: more.internal }] : []),
      ],
    },
  }) as Machine;

describe('the registration address of rke2 machines', () => {
  const cluster = { spec: { controlPlaneEndpoint: { host: 'lb', port: 6443 } } } as Cluster;
  const machines = [
    machine('new', { internal: '10.0.0.1', node: false }),
    machine('both', { internal: '10.0.0.2', external: '203.0.113.2' }),
    machine('outside', { external: '203.0.113.3' }),
  ];
  it.each<[RKE2ControlPlane['spec']['registrationMethod'], string[]]>([
    [undefined, ['lb']],
    ['control-plane-endpoint', ['lb']],
    ['address', ['rke2.example.org']],
    ['internal-first', ['10.0.0.2', '203.0.113.3']],
    ['internal-only-ips', ['10.0.0.2']],
    ['external-only-ips', ['203.0.113.2', '203.0.113.3']],
  ])('is chosen by the method %s', (registrationMethod, expected) => {
    const controlPlane = plane({
      ...(registrationMethod !== undefined && { registrationMethod }),
      registrationAddress: 'rke2.example.org',
    });
    expect(serverAddresses(controlPlane, cluster, machines, new Map())).toEqual(expected);
  });
});

describe('a machine of an RKE2ControlPlane', () => {
  const config = (spec: RKE2Config['spec']) => ({ metadata: {}, spec }) as RKE2Config;
  const made = (serverConfig: object) =>
    ({
      ...machine('m'),
      metadata: { annotations: { [serverConfigurationAnnotation]: JSON.stringify(serverConfig) } },
    }) as Machine;

  it('is up to date while its configuration and server settings match the control plane', () => {
    const wanted = plane({ serverConfig: { cni: 'calico' }, preRKE2Commands: ['a'] });
    const isUpToDate = (spec: RKE2Config['spec'], server: object): boolean =>
      rke2Provider.isConfigUpToDate(wanted, config(spec), made(server));
    expect(isUpToDate({ preRKE2Commands: ['a'] }, { cni: 'calico' })).toBe(true);
    expect(isUpToDate({ preRKE2Commands: ['b'] }, { cni: 'calico' })).toBe(false);
    expect(isUpToDate({ preRKE2Commands: ['a'] }, { cni: 'canal' })).toBe(false);
  });

  it('is not replaced for Node annotations or an explicit default', () => {
    const wanted = plane({ agentConfig: { nodeAnnotations: { a: 'b' } } });
    expect(rke2Provider.isConfigUpToDate(wanted, config({ agentConfig: { format: 'cloud-config' } }), made({}))).toBe(
      true,
    );
  });

  it('needs a Node with the control plane label and the configured annotations', () => {
    const node = (annotations: Record<string, string>, labels: Record<string, string>): Node =>
      ({ metadata: { name: 'n', labels, annotations } }) as Node;
    const label = { 'node-role.kubernetes.io/control-plane': 'true' };
    const wanted = config({ agentConfig: { nodeAnnotations: { a: 'b' } } });
    const verdict = (one: Node) => metadataVerdict(machine('m'), one, wanted).status;
    expect(verdict(node({ a: 'b' }, label))).toBe('True');
    expect(verdict(node({}, label))).toBe('False');
    expect(verdict(node({ a: 'b' }, {}))).toBe('False');
  });

  it('shows no scheduler when that is disabled', () => {
    const off = plane({ serverConfig: { disableComponents: { kubernetesComponents: ['scheduler'] } } });
    expect(rke2Provider.componentPods(off).map(([name]) => name)).toEqual([
      'kube-apiserver',
      'kube-controller-manager',
    ]);
  });
});

describe('the settings of an RKE2ControlPlane', () => {
  it('are read in seconds, and the certificate expiry days from an annotation', () => {
    const remediationStrategy = { maxRetry: 3, retryPeriod: '2m', minHealthyPeriod: '1h' };
    const annotation = 'controlplane.cluster.x-k8s.io/rollout-before-certificates-expiry-days';
    expect(rke2Provider.settingsOf(plane({ remediationStrategy }, { [annotation]: '30' }))).toMatchObject({
      remediation: { maxRetry: 3, retryPeriodSeconds: 120, minHealthyPeriodSeconds: 3600 },
      rollout: { before: { certificatesExpiryDays: 30 } },
    });
    expect(rke2Provider.settingsOf(plane({}, { [annotation]: 'soon' })).rollout).not.toHaveProperty('before');
  });
});

describe('the etcd members of rke2', () => {
  it('are matched by the names of their Nodes', async () => {
    const member = (name: string): EtcdMember => ({ id: name, name, peerUrls: [], clientUrls: [], isLearner: false });
    const members = async () => ['c1-abcde-0f1e2d3c', 'plain', ''].map(member);
    const unused = (): never => {
      throw new Error('is not asked');
    };
    const client: EtcdClient = {
      members,
      removeMember: members,
      promoteMember: members,
      status: unused,
      alarms: unused,
      moveLeader: unused,
      isClosed: () => false,
      close: () => undefined,
    };
    const opened = await membersByNode(async () => client)({ cluster: { name: 'c' }, node: 'n' }, AbortSignal.any([]));
    const names = (await opened.members(AbortSignal.any([]))).map(({ name }) => name);
    expect(names).toEqual(['c1-abcde', 'plain', '']);
  });
});
