import { describe, expect, it } from 'vitest';
import type { JsonObject, UnstructuredObject } from '../machinery/index.ts';
import { context, created, defaulted, make, strategyOf, updated } from './admission.test-support.ts';

const ref = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'K', name: 'r' };
const machine = { clusterName: 'c', bootstrap: { dataSecretName: 's' }, infrastructureRef: ref, version: '1.31.0' };
const deployment = { clusterName: 'c', template: { spec: machine } };
const min = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size';
const max = 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size';

describe('defaults', () => {
  it('add the cluster label, the v of the version and the node deletion timeout to a Machine', () => {
    const object = defaulted(make('Machine', machine, { labels: { a: 'b' } }));
    expect(object.metadata.labels).toEqual({ a: 'b', 'cluster.x-k8s.io/cluster-name': 'c' });
    expect(object.spec).toMatchObject({ version: 'v1.31.0', deletion: { nodeDeletionTimeoutSeconds: 10 } });
  });

  it('give a MachineDeployment without selector a selector, matching labels and a strategy', () => {
    const object = defaulted(make('MachineDeployment', deployment));
    const labels = { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/deployment-name': 'x' };
    expect(object.spec).toMatchObject({
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { version: 'v1.31.0' } },
      rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } },
    });
    expect(created(object)).toEqual([]);
  });

  it('add only the cluster name to a selector that the user wrote', () => {
    const object = defaulted(make('MachineDeployment', { ...deployment, selector: { matchLabels: { a: 'b' } } }));
    expect((object.spec as JsonObject)['selector']).toEqual({
      matchLabels: { a: 'b', 'cluster.x-k8s.io/cluster-name': 'c' },
    });
  });

  it('hash the name of a MachineSet that is too long for a label value', () => {
    const object = defaulted(make('MachineSet', deployment, { name: 'n'.repeat(64) }));
    const labels = (((object.spec as JsonObject)['template'] as JsonObject)['metadata'] as JsonObject)['labels'];
    expect((labels as JsonObject)['cluster.x-k8s.io/set-name']).toMatch(/^hash_[\w-]{6}_z$/);
  });

  it.each<[string, object, number | undefined, number]>([
    ['one without anything', {}, undefined, 1],
    ['the old number on update', {}, 7, 7],
    ['the minimum of an autoscaler', { [min]: '3', [max]: '5' }, undefined, 3],
    ['the minimum when the old number is below', { [min]: '3', [max]: '5' }, 1, 3],
    ['the maximum when the old number is above', { [min]: '3', [max]: '5' }, 9, 5],
    ['the old number inside the range', { [min]: '3', [max]: '5' }, 4, 4],
  ])('set the replicas of a MachineDeployment to %s', (_, annotations, before, expected) => {
    const object = make('MachineDeployment', deployment, { annotations });
    if (before !== undefined) {
      strategyOf('MachineDeployment').prepareForUpdate!(
        object,
        make('MachineDeployment', { ...deployment, replicas: before }),
        context,
      );
    }
    expect((defaulted(object).spec as JsonObject)['replicas']).toBe(expected);
  });

  it('prefix the version of a topology with v', () => {
    const object = defaulted(make('Cluster', { topology: { classRef: { name: 'c' }, version: '1.31.0' } }));
    expect(object.spec).toMatchObject({ topology: { version: 'v1.31.0' } });
  });

  it('fill in an OpenStackCluster from the schema of the hub version', () => {
    const object = defaulted(
      make('OpenStackCluster', { identityRef: { name: 's', cloudName: 'c' }, apiServer: { managedLoadBalancer: {} } }),
    );
    expect(object.spec).toMatchObject({
      identityRef: { type: 'Secret' },
      apiServer: { managedLoadBalancer: { enabled: true } },
    });
  });
});

describe('validation on create', () => {
  const topology = { classRef: { name: 'c' }, version: 'v1.31.0' };
  it.each<[string, UnstructuredObject, string[]]>([
    [
      'a Cluster with nothing to make',
      make('Cluster', { paused: true }),
      ['spec: Forbidden: one of spec.controlPlaneRef, spec.infrastructureRef or spec.topology must be set'],
    ],
    [
      'a Cluster with a wrong range',
      make('Cluster', { infrastructureRef: ref, clusterNetwork: { pods: { cidrBlocks: ['10.0.0.0/40'] } } }),
      ['spec.clusterNetwork.pods.cidrBlocks[0]: Invalid value: "10.0.0.0/40": invalid CIDR address: 10.0.0.0/40'],
    ],
    [
      'a topology without a version',
      make('Cluster', { topology: { ...topology, version: 'latest' } }),
      ['spec.topology.version: Invalid value: "latest": version must be a valid semantic version'],
    ],
    [
      'a topology with letters behind its version',
      make('Cluster', { topology: { ...topology, version: 'v1.34.2x' } }),
      ['spec.topology.version: Invalid value: "v1.34.2x": version must be a valid semantic version'],
    ],
    [
      'an upgrade concurrency of zero',
      make('Cluster', { topology }, { annotations: { 'topology.cluster.x-k8s.io/upgrade-concurrency': '0' } }),
      [
        'metadata.annotations.topology.cluster.x-k8s.io/upgrade-concurrency: Invalid value: "0": value cannot be less than 1',
      ],
    ],
    [
      'replicas beside an autoscaler',
      make('Cluster', {
        topology: {
          ...topology,
          workers: {
            machineDeployments: [{ class: 'w', name: 'md', replicas: 1, metadata: { annotations: { [min]: '1' } } }],
          },
        },
      }),
      [
        'spec.topology.workers.machineDeployments[md].replicas: Invalid value: 1: cannot be set for cluster "x" in namespace "n" if the same MachineDeploymentTopology has autoscaler annotations',
      ],
    ],
    [
      'fewer replicas than none',
      make('Cluster', {
        topology: {
          ...topology,
          controlPlane: { replicas: -1 },
          workers: { machineDeployments: [{ class: 'w', name: 'md', replicas: -2 }] },
        },
      }),
      [
        'spec.topology.controlPlane.replicas: Invalid value: -1: must be greater than or equal to 0',
        'spec.topology.workers.machineDeployments[md].replicas: Invalid value: -2: must be greater than or equal to 0',
      ],
    ],
    [
      'a Machine nothing starts',
      make('Machine', { ...machine, version: 'v1.31.0', bootstrap: {} }),
      [
        'spec.bootstrap: Required value: expected either spec.bootstrap.dataSecretName or spec.bootstrap.configRef to be populated',
      ],
    ],
    [
      'a Machine of no version',
      make('Machine', { ...machine, version: 'v1' }),
      ['spec.version: Invalid value: "v1": must be a valid semantic version'],
    ],
    [
      'a MachineTemplate with an id',
      make('OpenStackMachineTemplate', { template: { spec: { providerID: 'x' } } }),
      ['spec.template.spec.providerID: Forbidden: cannot be set in templates'],
    ],
    [
      'a rule with two remotes',
      make('OpenStackCluster', {
        managedSecurityGroups: {
          workerNodesSecurityGroupRules: [{ name: 'r', remoteGroupID: 'g', remoteIPPrefix: '192.0.2.0/24' }],
        },
      }),
      [
        'spec.managedSecurityGroups.workerNodesSecurityGroupRules[0]: Forbidden: only one of remoteManagedGroups, remoteGroupID, or remoteIPPrefix can be set',
      ],
    ],
    [
      'a second root device',
      make('OpenStackMachine', { rootVolume: { sizeGiB: 1 }, additionalBlockDevices: [{ name: 'root' }] }),
      ['spec.additionalBlockDevices: Forbidden: cannot contain a device named "root" when rootVolume is set'],
    ],
    [
      'groups on a port without security',
      make('OpenStackMachine', { ports: [{ enablePortSecurity: false, securityGroups: [{ id: 'g' }] }] }),
      ['spec.ports: Forbidden: cannot have security groups when EnablePortSecurity is set to false'],
    ],
  ])('checks %s', (_, object, expected) => {
    expect(created(object)).toEqual(expected);
  });

  it.each<[string, JsonObject, string[]]>([
    [
      'labels that do not match',
      { selector: { matchLabels: { a: 'b' } } },
      ['spec.template.metadata.labels: Forbidden: must match spec.selector "a=b,cluster.x-k8s.io/cluster-name=c"'],
    ],
    [
      'another cluster in the template',
      { template: { spec: { ...machine, clusterName: 'd' } } },
      [
        'spec.clusterName: Invalid value: "c": spec.clusterName and spec.template.spec.clusterName must be set to the same value',
      ],
    ],
    [
      'no step to take',
      { rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } } },
      ['spec.rollout.strategy.rollingUpdate: Invalid value: "0": maxUnavailable and maxSurge cannot both be 0'],
    ],
    [
      'fewer replicas than none',
      { replicas: -1 },
      ['spec.replicas: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a negative surge',
      { rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: -1 } } } },
      ['spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0'],
    ],
    [
      'a surge that is no number',
      { rollout: { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '3' } } } },
      [
        'spec.rollout.strategy.rollingUpdate.maxSurge: Invalid value: "3": must be either an int or a percentage: invalid value for IntOrString: invalid type: string is not a percentage',
      ],
    ],
    [
      'names that repeat',
      { machineNaming: { template: 'fixed' } },
      ['spec.machineNaming.template: Invalid value: "fixed": invalid template, {{ .random }} is missing'],
    ],
  ])('checks a MachineDeployment with %s', (_, more, expected) => {
    expect(created(defaulted(make('MachineDeployment', { ...deployment, ...more })))).toEqual(expected);
  });
});

describe('validation on update', () => {
  it('refuses a Cluster that loses its references or its topology', () => {
    const old = make('Cluster', {
      controlPlaneRef: ref,
      infrastructureRef: ref,
      topology: { classRef: { name: 'c' }, version: 'v1.31.0' },
    });
    expect(updated(make('Cluster', { infrastructureRef: ref }), old)).toEqual([
      'spec.controlPlaneRef: Forbidden: cannot be removed',
      'spec.topology: Forbidden: cannot be removed from an existing Cluster',
    ]);
  });

  it('refuses a topology version older than the current one', () => {
    const at = (version: string): UnstructuredObject =>
      make('Cluster', { topology: { classRef: { name: 'c' }, version } });
    expect(updated(at('v1.30.4'), at('v1.31.0'))).toEqual([
      'spec.topology.version: Invalid value: "v1.30.4": version cannot be decreased from "1.31.0" to "1.30.4"; allowed: newer ones of v1.31 and any of v1.32',
    ]);
    expect(updated(at('v1.31.1'), at('v1.31.0'))).toEqual([]);
  });

  it.each(['Machine', 'MachineSet', 'MachineDeployment'])('refuses to move a %s to another cluster', (kind) => {
    const spec = (clusterName: string): JsonObject =>
      kind === 'Machine'
        ? { ...machine, clusterName }
        : { clusterName, template: { spec: { ...machine, clusterName } } };
    expect(updated(defaulted(make(kind, spec('d'))), defaulted(make(kind, spec('c'))))).toEqual([
      'spec.clusterName: Forbidden: field is immutable',
    ]);
  });

  const template = (flavor: string, pairs: JsonObject[], annotations = {}): UnstructuredObject =>
    make(
      'OpenStackMachineTemplate',
      { template: { spec: { flavor: { id: flavor }, ports: [{ allowedAddressPairs: pairs }] } } },
      { annotations },
    );

  it('refuses a changed template unless only its allowed address pairs changed', () => {
    expect(updated(template('b', []), template('a', []))[0]).toContain(
      'OpenStackMachineTemplate spec.template.spec field is immutable. Please create a new resource instead.',
    );
    expect(updated(template('a', [{ ipAddress: '10.0.0.1' }]), template('a', []))).toEqual([]);
  });

  it('accepts a changed template in the dry run of a topology', () => {
    const next = template('b', [], { 'topology.cluster.x-k8s.io/dry-run': '' });
    expect(updated(next, template('a', []), { dryRun: true })).toEqual([]);
    expect(updated(next, template('a', []))).toHaveLength(1);
  });

  const cluster = (spec: JsonObject, status: JsonObject = {}): UnstructuredObject =>
    make('OpenStackCluster', { identityRef: { name: 's', cloudName: 'c' }, ...spec }, {}, status);
  /** Everything is provisioned, so wrong fields can no longer be corrected. */
  const provisioned: JsonObject = { initialization: { provisioned: true } };
  const network = { network: { id: 'N', name: 'net', subnets: [{ id: 'S', name: 'sub', cidr: '10.0.0.0/8' }] } };
  const refused = [expect.stringMatching(/^spec: Forbidden: cannot be modified; changed: \S/) as string];

  it.each<[string, JsonObject, JsonObject, JsonObject | undefined, string[]]>([
    ['another network', { network: { id: 'A' } }, { network: { id: 'B' } }, undefined, refused],
    ['other credentials', {}, { identityRef: { name: 't', cloudName: 'c' } }, undefined, []],
    ['an endpoint that was open', {}, { controlPlaneEndpoint: { host: 'h', port: 1 } }, undefined, []],
    [
      'an endpoint that was set',
      { controlPlaneEndpoint: { host: 'h', port: 1 } },
      { controlPlaneEndpoint: { host: 'i', port: 1 } },
      undefined,
      refused,
    ],
    [
      'the fixed address once',
      { apiServer: { enableFloatingIP: false, fixedIP: '' } },
      { apiServer: { enableFloatingIP: false, fixedIP: '10.0.0.1' } },
      undefined,
      [],
    ],
    [
      'the fixed address twice',
      { apiServer: { enableFloatingIP: false, fixedIP: '10.0.0.1' } },
      { apiServer: { enableFloatingIP: false, fixedIP: '10.0.0.2' } },
      undefined,
      refused,
    ],
    ['rules', {}, { managedSecurityGroups: { workerNodesSecurityGroupRules: [{ name: 'r' }] } }, undefined, []],
    ['no security groups any more', { managedSecurityGroups: {} }, {}, undefined, refused],
    [
      'name servers',
      { managedSubnets: [{ cidr: '10.0.0.0/8' }] },
      { managedSubnets: [{ cidr: '10.0.0.0/8', dnsNameservers: ['9.9.9.9'] }] },
      undefined,
      [],
    ],
    [
      'another range',
      { managedSubnets: [{ cidr: '10.0.0.0/8' }] },
      { managedSubnets: [{ cidr: '10.1.0.0/16' }] },
      undefined,
      ['spec.managedSubnets: Forbidden: cannot change subnet CIDR from existing value to 10.1.0.0/16'],
    ],
    [
      'who may connect',
      { apiServer: { managedLoadBalancer: { enabled: true } } },
      { apiServer: { managedLoadBalancer: { enabled: true, allowedCIDRs: ['192.0.2.0/24'] } } },
      undefined,
      [],
    ],
    [
      'a bastion that goes while it is on',
      { bastion: { enabled: true, spec: {} } },
      {},
      undefined,
      ['spec.bastion: Forbidden: cannot be removed before disabling it'],
    ],
    ['a bastion that goes after it is off', { bastion: { enabled: false } }, {}, undefined, []],
    [
      'filters that become the ids found',
      { network: { filter: { name: 'net' } }, subnets: [{ filter: { name: 'sub' } }] },
      { network: { id: 'N' }, subnets: [{ id: 'S' }] },
      network,
      [],
    ],
    [
      'filters that become other ids',
      { network: { filter: { name: 'net' } }, subnets: [{ filter: { name: 'sub' } }] },
      { network: { id: 'N' }, subnets: [{ id: 'T' }] },
      network,
      refused,
    ],
  ])('checks an OpenStackCluster with %s', (_, before, after, status, expected) => {
    expect(updated(cluster(after), cluster(before, { ...provisioned, ...status }))).toEqual(expected);
  });

  it('accepts corrections of an OpenStackCluster before any resource was made', () => {
    expect(updated(cluster({ network: { id: 'B' } }), cluster({ network: { id: 'A' } }))).toEqual([]);
  });
});
