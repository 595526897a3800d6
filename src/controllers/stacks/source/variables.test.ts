import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ClusterClass, parseStackId, type Topology } from '../../../api/index.ts';
import { asTyped, formatFieldError, type JsonValue, must, type UnstructuredObject } from '../../../machinery/index.ts';
import { at } from '../../shared/index.ts';
// what a class makes of variables is the affair of topologies
import { computeDesired } from '../../topology/desired/compute.ts';
import { defaultVariables, validateVariables } from '../../topology/variables/values.ts';
import { readRelease } from '../release/release.ts';
import { renderClass } from '../release/render-class.ts';
import { builtInSource } from './built-in.ts';

const source = builtInSource(fileURLToPath(new URL('../../../../stacks', import.meta.url)), async () => new Map());
const name = 'openstack-hosted-control-plane-1-33-v1';
const version = 'v1.33.6';
type Values = Readonly<Record<string, JsonValue>>;

async function stack() {
  const id = must(parseStackId(name), name);
  const files = must(await source.files(id, new AbortController().signal), name);
  const objects = renderClass(readRelease(id, files, source), name, 'tenant');
  const template = (kind: string): UnstructuredObject =>
    must(
      objects.find((object) => object.kind === kind),
      kind,
    );
  return { clusterClass: asTyped<ClusterClass>(template('ClusterClass')), template };
}

/** What a Cluster with these variables consists of; what is wrong with them otherwise. */
async function make(values: Values) {
  const { clusterClass, template } = await stack();
  const topology: Topology = {
    classRef: { name, namespace: 'tenant' },
    version,
    variables: Object.entries(values).map(([variable, value]) => ({ name: variable, value })),
    workers: { machineDeployments: [{ class: 'default-worker', name: 'md-0', replicas: 1 }] },
  };
  const definitions = (clusterClass.spec.variables ?? []).map(({ name: variable, ...definition }) => ({
    name: variable,
    definitions: [{ from: 'inline', ...definition }],
  }));
  defaultVariables(topology, definitions);
  const problems = validateVariables(topology, definitions).map(formatFieldError);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const workers = must(clusterClass.spec.workers?.machineDeployments?.[0], 'workers');
  const desired = await computeDesired(
    {
      class: { ...clusterClass, status: { variables: definitions } },
      infrastructureTemplate: template('OpenStackClusterTemplate'),
      controlPlaneTemplate: template('HostedControlPlaneTemplate'),
      controlPlaneContract: 'v1beta1',
      workers: new Map([
        [
          'default-worker',
          {
            class: workers,
            bootstrapTemplate: template('KubeadmConfigTemplate'),
            infrastructureTemplate: template('OpenStackMachineTemplate'),
          },
        ],
      ]),
    },
    {
      cluster: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'Cluster',
        metadata: { name: 'c', namespace: 'tenant', uid: 'u' },
        spec: { topology },
      },
      deployments: new Map(),
    },
    { controlPlane: version, deployments: new Map([['md-0', version]]) },
    { generate: async () => [], validate: async () => {} },
  );
  return {
    cluster: (...path: string[]) => at(desired.infrastructureCluster, 'spec', ...path),
    plane: (...path: string[]) => at(desired.controlPlane.object, 'spec', ...path),
    worker: (...path: string[]) =>
      at(must(desired.deployments[0], 'workers').infrastructureTemplate.object, 'spec', 'template', 'spec', ...path),
  };
}

type Made = Awaited<ReturnType<typeof make>>;
const uuid = '6d6ec9b5-3f0b-4c0e-9d1f-2f1d3a1b6c77';
const needed = { networkExternalID: uuid };

describe('variables of the stack hosted-control-plane', () => {
  it.each<[string, Values, (made: Made) => unknown, unknown]>([
    ['controlPlaneReplicas', {}, ({ plane }) => plane('replicas'), 3],
    ['controlPlaneReplicas', { controlPlaneReplicas: 5 }, ({ plane }) => plane('replicas'), 5],
    ['gatewayName', {}, ({ plane }) => plane('gateway'), undefined],
    ['gatewayName', { gatewayName: 'edge' }, ({ plane }) => plane('gateway'), { name: 'edge', namespace: 'default' }],
    [
      'gatewayNamespace',
      { gatewayName: 'edge', gatewayNamespace: 'net' },
      ({ plane }) => plane('gateway', 'namespace'),
      'net',
    ],
    ['certSANs', { certSANs: ['a.example.org'] }, ({ plane }) => plane('apiServer', 'certSANs'), ['a.example.org']],
    ['networkExternalID', {}, ({ cluster }) => cluster('externalNetwork'), { id: uuid }],
    ['networkMTU', {}, ({ cluster }) => cluster('managedNetwork'), undefined],
    ['networkMTU', { networkMTU: 1400 }, ({ cluster }) => cluster('managedNetwork', 'mtu'), 1400],
    [
      'dnsNameservers and nodeCIDR',
      {},
      ({ cluster }) => cluster('managedSubnets'),
      [{ cidr: '10.8.0.0/20', dnsNameservers: ['9.9.9.9', '149.112.112.112'] }],
    ],
    [
      'dnsNameservers and nodeCIDR',
      { nodeCIDR: '10.9.0.0/24', dnsNameservers: ['1.1.1.1'] },
      ({ cluster }) => cluster('managedSubnets'),
      [{ cidr: '10.9.0.0/24', dnsNameservers: ['1.1.1.1'] }],
    ],
    ['workerFlavor', {}, ({ worker }) => worker('flavor'), { filter: { name: 'SCS-4V-8' } }],
    ['workerFlavor', { workerFlavor: 'big' }, ({ worker }) => worker('flavor'), { filter: { name: 'big' } }],
    ['workerRootDisk', {}, ({ worker }) => worker('rootVolume'), { sizeGiB: 50 }],
    ['workerRootDisk', { workerRootDisk: 0 }, ({ worker }) => worker('rootVolume'), undefined],
    ['workerServerGroupID', {}, ({ worker }) => worker('serverGroup'), undefined],
    ['workerServerGroupID', { workerServerGroupID: uuid }, ({ worker }) => worker('serverGroup'), { id: uuid }],
    [
      'workerAdditionalBlockDevices',
      { workerAdditionalBlockDevices: [{ name: 'data', sizeGiB: 30 }] },
      ({ worker }) => worker('additionalBlockDevices'),
      [{ name: 'data', sizeGiB: 30, storage: { type: 'Volume', volume: { type: '__DEFAULT__' } } }],
    ],
    [
      'securityGroups',
      { securityGroups: ['all'] },
      ({ worker }) => worker('securityGroups'),
      [{ filter: { name: 'all' } }],
    ],
    [
      'securityGroupIDs',
      { securityGroups: ['all'], securityGroupIDs: [uuid] },
      ({ worker }) => worker('securityGroups'),
      [{ id: uuid }],
    ],
    [
      'workerSecurityGroups',
      { securityGroupIDs: [uuid], workerSecurityGroups: ['mine'] },
      ({ worker }) => worker('securityGroups'),
      [{ filter: { name: 'mine' } }],
    ],
    [
      'workerSecurityGroupIDs',
      { workerSecurityGroups: ['mine'], workerSecurityGroupIDs: [uuid] },
      ({ worker }) => worker('securityGroups'),
      [{ id: uuid }],
    ],
    ['imageName', {}, ({ worker }) => worker('image'), { filter: { name: `ubuntu-capi-image-${version}` } }],
    [
      'imageName that looks like a number',
      { imageName: '2404', imageAddVersion: false },
      ({ worker }) => worker('image'),
      { filter: { name: '2404' } },
    ],
    [
      'imageIsOrc',
      { imageName: 'flatcar', imageIsOrc: true },
      ({ worker }) => worker('image'),
      { imageRef: { name: `flatcar-${version}` } },
    ],
    [
      'imageAddVersion',
      { imageAddVersion: false },
      ({ worker }) => worker('image', 'filter', 'name'),
      'ubuntu-capi-image',
    ],
    ['sshKeyName', {}, ({ worker }) => worker('sshKeyName'), undefined],
    ['sshKeyName', { sshKeyName: 'me' }, ({ worker }) => worker('sshKeyName'), 'me'],
    ['identityRef', {}, ({ cluster }) => cluster('identityRef'), { name: 'openstack', cloudName: 'openstack' }],
    [
      'identityRef',
      { identityRef: { name: 'mine', cloudName: 'north' } },
      ({ cluster }) => cluster('identityRef'),
      { name: 'mine', cloudName: 'north' },
    ],
    ['disableAPIServerFloatingIP', {}, ({ cluster }) => cluster('apiServer', 'enableFloatingIP'), false],
    [
      'disableAPIServerFloatingIP',
      { disableAPIServerFloatingIP: false },
      ({ cluster }) => cluster('apiServer', 'enableFloatingIP'),
      true,
    ],
  ])('%s does what it says: %j', async (_, values, look, expected) => {
    expect(look(await make({ ...needed, ...values }))).toEqual(expected);
  });

  it.each<[Values, RegExp]>([
    [{ apiServerLoadBalancer: 'octavia-ovn' }, /no machines that a load balancer of OpenStack could lead to/],
    [{ apiServerLoadBalancer: 'octavia' }, /supported values: "none"/],
    [{ apiServerLoadBalancerOctaviaAmphoraAllowedCIDRs: ['10.0.0.0/8'] }, /no load balancer of OpenStack/],
    [{ networkExternalID: 'public' }, /networkExternalID/],
    [{ controlPlaneReplicas: 0 }, /greater than or equal to 1/],
    [{ workerRootDisk: -1 }, /greater than or equal to 0/],
    [{ workerAdditionalBlockDevices: [{ sizeGiB: 1 }] }, /name/],
    [{ securityGroupIDs: ['default'] }, /securityGroupIDs/],
    [{ nodeCIDR: '10.8.0.0' }, /nodeCIDR/],
  ])('refuse %j', async (values, message) => {
    await expect(make({ ...needed, ...values })).rejects.toThrow(message);
  });
});
